/**
 * The code editor of templates. It is loaded when an editor is shown: nobody who only responds to Alerts pays for it.
 * It lives in a shadow tree, because there its styles are sheets made by script, which the page's policy allows.
 */
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import type { TemplateKind } from '../api/configuration.ts';
import { ACTIONS, fieldsOf, functionsOf } from './vocabulary.ts';

export interface CodeEditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  readonly kind: TemplateKind;
  /** Accessible name. */
  readonly label: string;
  readonly onchange: (text: string) => void;
}

export interface CodeEditorError {
  /** 1-based; the column counts characters. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface CodeEditor {
  /** Puts another text in place of what was typed. */
  replace(text: string): void;
  /** Puts a text in place of what is selected, and the focus behind it. */
  insert(text: string): void;
  mark(error: CodeEditorError | null): void;
  /** What is heard besides the name: elements of the page have ids that mean nothing in a shadow tree. */
  describe(text: string, isInvalid: boolean): void;
  destroy(): void;
}

export function createCodeEditor(options: CodeEditorOptions): CodeEditor {
  const root = options.host.shadowRoot ?? options.host.attachShadow({ mode: 'open' });
  const description = new Compartment();
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({ doc: options.text, extensions: [extensionsOf(options), description.of([])] }),
  });
  // With a tabindex of its own, even -1, the host would take the editor out of what Tab goes through.
  options.host.focus = () => view.focus();
  return {
    replace(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true });
      view.focus();
    },
    mark(error) {
      const diagnostics = error === null ? [] : [diagnosticOf(view.state, error)];
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    describe(text, isInvalid) {
      const heard = EditorView.contentAttributes.of({
        'aria-description': text,
        'aria-invalid': String(isInvalid),
      });
      view.dispatch({ effects: description.reconfigure(heard) });
    },
    destroy: () => view.destroy(),
  };
}

function extensionsOf({ kind, label, onchange }: CodeEditorOptions) {
  return [
    lineNumbers(),
    history(),
    bracketMatching(),
    lintGutter(),
    highlighting,
    autocompletion({ override: [(context) => completions(context, kind)] }),
    // Tab leaves the editor, so that the keyboard is never caught in it.
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': label,
      spellcheck: 'false',
      tabindex: '0',
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onchange(update.state.doc.toString());
    }),
    look,
  ];
}

/** Columns count code points, offsets count UTF-16 units. */
function diagnosticOf(state: EditorState, { line, column, message }: CodeEditorError): Diagnostic {
  const { from: start, text } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  const before = [...text].slice(0, column - 1).join('').length;
  const from = Math.min(start + before, state.doc.length);
  const word = /^[\w.$]+|^./.exec(text.slice(before))?.[0].length ?? 0;
  return { from, to: Math.min(from + word, state.doc.length), severity: 'error', message };
}

function completions(context: CompletionContext, kind: TemplateKind): CompletionResult | null {
  const source = context.state.doc.toString();
  if (!isInAction(source, context.pos)) return null;
  const word = context.matchBefore(/[.$]?[\w.]*/);
  if (!word || (word.from === word.to && !context.explicit)) return null;
  const fields = fieldsOf(kind).map((label) => ({ label, type: 'property' }));
  const names = [
    ...ACTIONS.map((label) => ({ label, type: 'keyword' })),
    ...functionsOf(kind).map(({ name, takes }) => ({ label: name, detail: takes, type: 'function' })),
  ];
  return { from: word.from, options: word.text.startsWith('.') ? fields : [...names, ...fields] };
}

const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorationsOf(view);
    }

    update(update: ViewUpdate) {
      if (update.docChanged) this.decorations = decorationsOf(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function decorationsOf({ state }: EditorView): DecorationSet {
  const marks = tokensOf(state.doc.toString()).map(({ from, to, kind }) =>
    Decoration.mark({ class: `token-${kind}` }).range(from, to),
  );
  return Decoration.set(marks);
}

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', maxHeight: '420px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', minHeight: '96px' },
  '.cm-gutters': { color: 'var(--text-faint)', backgroundColor: 'var(--sunken)', border: '0' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: '5px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent)',
  },
  '.token-delimiter': { color: 'var(--text-faint)' },
  '.token-keyword': { color: 'var(--accent)', fontWeight: '600' },
  '.token-function': { color: 'var(--acknowledged)' },
  '.token-field': { color: 'var(--snoozed)' },
  '.token-variable': { color: 'var(--firing)' },
  '.token-string': { color: 'var(--resolved)' },
  '.token-number': { color: 'var(--warning)' },
  '.token-comment': { color: 'var(--text-faint)', fontStyle: 'italic' },
});

/** Parts of a template for its highlighting: what stands between `{{` and `}}`, as far as it can be told at a glance. */

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly kind:
    | 'delimiter'
    | 'keyword'
    | 'function'
    | 'field'
    | 'variable'
    | 'string'
    | 'number'
    | 'comment';
}

const KEYWORDS = new Set(
  'if else end with range break continue define template block true false nil'.split(' '),
);
const PARTS = [
  ['comment', /\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /"(?:\\.|[^"\\\n])*"?|`[^`]*`?|'(?:\\.|[^'\\\n])*'?/y],
  ['number', /\d[\w.]*/y],
  ['variable', /\$\w*/y],
  ['field', /\.[A-Za-z_]\w*/y],
  ['word', /[A-Za-z_]\w*/y],
] as const;

/** The tokens of a source in order. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let open = source.indexOf('{{'); open >= 0; ) {
    const close = readAction(source, open, tokens);
    open = source.indexOf('{{', close);
  }
  return tokens;
}

/** @returns where the text behind the action begins */
function readAction(source: string, open: number, tokens: Token[]): number {
  let at = open + (/-\s/.test(source.slice(open + 2, open + 4)) ? 3 : 2);
  tokens.push({ from: open, to: at, kind: 'delimiter' });
  while (at < source.length) {
    const end = /^(?:-?\}\})/.exec(source.slice(at, at + 3));
    if (end) {
      tokens.push({ from: at, to: at + end[0].length, kind: 'delimiter' });
      return at + end[0].length;
    }
    const token = tokenAt(source, at);
    if (token) tokens.push(token);
    at = token?.to ?? at + 1;
  }
  return at;
}

function tokenAt(source: string, from: number): Token | null {
  for (const [kind, pattern] of PARTS) {
    pattern.lastIndex = from;
    const found = pattern.exec(source)?.[0];
    if (found === undefined || found === '') continue;
    const to = from + found.length;
    if (kind !== 'word') return { from, to, kind };
    return { from, to, kind: KEYWORDS.has(found) ? 'keyword' : 'function' };
  }
  return null;
}

/** Whether a place lies within an action, where names can be completed. */
export function isInAction(source: string, at: number): boolean {
  const before = source.slice(0, at);
  return before.lastIndexOf('{{') > before.lastIndexOf('}}');
}
