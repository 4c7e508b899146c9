/** Runs a story through the engine and compares what it shows with what the model expects after every Snapshot. */
import { isDeepStrictEqual } from 'node:util';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { Engine, INSTANCE_LABELS } from './engine.ts';
import { expected } from './model.ts';
import type { Picture } from './picture.ts';
import { type Received, type Story, stepText } from './story.ts';

/** Null when the two agree after every Snapshot; otherwise the first Snapshot after which they do not, and how. */
export async function difference({ window, steps }: Story): Promise<string | null> {
  const received = steps.filter((step): step is Received => step !== 'restart');
  const wanted = expected(received, { window, instanceLabels: INSTANCE_LABELS });
  const engine = new Engine(window);
  let seen = 0;
  try {
    for (const step of steps) {
      if (step === 'restart') {
        await engine.restart();
        continue;
      }
      const hadDetours = engine.hasDetours();
      await engine.receive(step);
      const shown = hadDetours || engine.hasDetours() ? withoutOrder : (picture: Picture) => picture;
      const [model, real] = [wanted[seen++], engine.picture()].map((one) => one && shown(one));
      if (!model || !real) throw new Error('the model shows too little');
      if (!isDeepStrictEqual(model, onTime(real, model)))
        return `after ${stepText(step)}\n${differing(model, real)}`;
    }
    return null;
  } catch (error) {
    return `after ${seen} Snapshots the engine breaks: ${error}`;
  } finally {
    await engine.stop();
  }
}

/** As many Snapshots as arrive together while the service is behind, at most. */
const TOGETHER = 3;

/**
 * The same for what the first sender group of a story says, when it arrives faster than it is processed: of several
 * groups either may be heard first. Alerts alone are compared, without
 * their texts: when an Alert Group resolved, and so which one takes a later firing, depends on when that was found out,
 * and a listing may be told twice while the first telling is not stored yet.
 */
export async function differenceWhenBehind({ window, steps }: Story): Promise<string | null> {
  const all = steps.filter((step): step is Received => step !== 'restart');
  const received = all.filter(({ feed }) => feed === all[0]?.feed);
  const wanted = expected(received, { window, instanceLabels: INSTANCE_LABELS });
  const engine = new Engine(window);
  try {
    let seen = 0;
    for (const together of batchesOf(received, window)) {
      await engine.receive(...together);
      seen += together.length;
      const model = essential(wanted[seen - 1]);
      const real = onTime(essential(engine.picture()), model);
      if (!isDeepStrictEqual(model, real))
        return `after ${together.map(stepText).join(', ')}\n${differing(model, real)}`;
    }
    return null;
  } catch (error) {
    return `the engine breaks: ${error}`;
  } finally {
    await engine.stop();
  }
}

/**
 * Snapshots that arrive together. What follows a late one that names an end comes after that has come back from the home:
 * until then the sender group does not know of it (ingestion §5.1 rule 5), and no model of what was received can tell when
 * that is.
 */
function batchesOf(received: readonly Received[], window: Micros): Received[][] {
  const batches: Received[][] = [[]];
  let windowStart = Number.NEGATIVE_INFINITY;
  for (const one of received) {
    if (one.at >= windowStart + window) windowStart = one.at;
    const isLateEnd = one.at <= windowStart - window && one.entries.some(({ firing }) => !firing);
    const batch = batches.at(-1) ?? [];
    batch.push(one);
    if (isLateEnd || batch.length === TOGETHER) batches.push([]);
  }
  return batches.filter((batch) => batch.length > 0);
}

/** The first difference of either kind. */
export async function anyDifference(story: Story): Promise<string | null> {
  const found = await difference(story);
  if (found !== null) return found;
  const behind = await differenceWhenBehind(story);
  return behind && `when ${TOGETHER} Snapshots are processed at once: ${behind}`;
}

/** Of the Stale check, which finds what is due (ingestion §1). */
const CHECK_CADENCE = 30 * SECOND;

/** The picture with whatever the Stale check found in time as if it had been found at once. */
function onTime(real: Picture, model: Picture): Picture {
  const alerts = Object.entries(real.alerts).map(([name, alert]) => {
    const due = model.alerts[name]?.resolvedAt ?? null;
    const delay = alert.resolvedBy === 'stale' && due !== null ? (alert.resolvedAt ?? 0) - due : -1;
    return [name, delay > 0 && delay <= CHECK_CADENCE ? { ...alert, resolvedAt: due } : alert];
  });
  return { ...real, alerts: Object.fromEntries(alerts) };
}

function essential(picture: Picture | undefined): Picture {
  const alerts = Object.entries(picture?.alerts ?? {}).map(([name, alert]) => [
    name,
    { ...alert, group: '', text: '' },
  ]);
  return { alerts: Object.fromEntries(alerts), groups: {} };
}

/**
 * Events by what they say of each Alert. What reaches its home by way of a former one is applied as a step of its own, so
 * that the events of one Snapshot may come in two parts (alert-groups §2).
 */
function withoutOrder({ alerts, groups }: Picture): Picture {
  const entries = Object.entries(groups).map(([name, { open, events }]) => {
    const said = events.flatMap((event) => {
      const words = event.replace(/^(alert_)?resolved \w+/, 'ended').split(' ');
      const names = words.filter((word) => word in alerts);
      const what = words.filter((word) => !(word in alerts)).join(' ');
      return names.map((one) => `${what} ${one}`);
    });
    return [name, { open, events: said.sort() }] as const;
  });
  return { alerts, groups: Object.fromEntries(entries) };
}

function differing(model: Picture, engine: Picture): string {
  const lines: string[] = [];
  for (const part of ['alerts', 'groups'] as const) {
    for (const name of new Set([...Object.keys(model[part]), ...Object.keys(engine[part])])) {
      const [wanted, real] = [model[part][name], engine[part][name]];
      if (isDeepStrictEqual(wanted, real)) continue;
      lines.push(`  ${name}`, `    model  ${JSON.stringify(wanted)}`, `    engine ${JSON.stringify(real)}`);
    }
  }
  return lines.join('\n');
}
