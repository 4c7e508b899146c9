/** Differences between Go and the service's language that the language means to have. */

export interface Answer {
  readonly ok: boolean;
  /** Output or error. */
  readonly text: string;
}

/** Types have names of their own. */
const TYPES: readonly (readonly [go: RegExp, own: string])[] = [
  [/\[\]interface \{\}|main\.pairs|main\.alerts/g, 'list'],
  [/main\.labels|map\[string\]interface \{\}/g, 'map'],
  [/main\.alertGroup/g, 'AlertGroup'],
  [/main\.alert/g, 'Alert'],
  [/main\.data/g, 'Data'],
  [/main\.pair/g, 'Pair'],
  [/time\.Time/g, 'time'],
  // The same after urlquery.
  [/%5B%5Dinterface\+%7B%7D/g, 'list'],
  [/map%5Bstring%5Dinterface\+%7B%7D/g, 'map'],
];

/** @param isSpoiled whether the source was damaged on purpose */
export function isMeant(go: Answer, own: Answer, isSpoiled: boolean): boolean {
  if (!own.ok)
    return (isSpoiled ? [...ALWAYS, ...WHEN_SPOILED] : ALWAYS).some((meant) => meant.test(own.text));
  if (OWN_FORMS.test(own.text)) return true;
  // Older Go takes a point at the very end of a format for a verb.
  if (isSpoiled && go.text.includes('%!.(')) return true;
  return go.ok && withOwnTypes(go.text) === own.text;
}

const ALWAYS: readonly RegExp[] = [
  // Go reads every field of a dot that is nil as nil when missing keys are allowed.
  /nil has no field/,
  /output is longer than/,
];

/** What Go finds out only when it comes to the place. */
const WHEN_SPOILED: readonly RegExp[] = [
  /variable \$\w+ is not defined/,
  /template ".*" is not defined/,
  /is not supported in a format/,
  // Arguments of what is no function; Go also allows a pipe with nothing behind it.
  /: (?:unexpected|missing value)/,
];

/** A time is one value, not what Go keeps in it; also escaped. */
const OWN_FORMS = /(?:%|%25)(?:!|%21)[a-zA-Z](?:\(|%28)time/;

function withOwnTypes(text: string): string {
  return TYPES.reduce((shown, [go, own]) => shown.replace(go, own), text);
}
