/** The lines of a drawing: arrows in opposite directions between two states share one. Pure. */
import type { Diagram, DiagramArrow, Transition } from '../../../../scripts/machines/diagram.ts';
import { isArrowOf } from './present.ts';

export interface Line {
  readonly id: string;
  readonly arrows: readonly DiagramArrow[];
}

/** In the order of the machine. */
export function linesOf({ arrows }: Pick<Diagram, 'arrows'>): readonly Line[] {
  const lines = new Map<string, DiagramArrow[]>();
  for (const arrow of arrows) {
    const id = [arrow.from, arrow.to].sort().join(' ');
    lines.set(id, [...(lines.get(id) ?? []), arrow]);
  }
  return [...lines].map(([id, shared]) => ({ id, arrows: shared }));
}

/** The transitions that the arrows of a line stand for. */
export function transitionsOfLine(
  { transitions }: Pick<Diagram, 'transitions'>,
  { arrows }: Line,
): readonly Transition[] {
  return transitions.filter((each) => arrows.some((arrow) => isArrowOf(arrow, [each])));
}

/** The states that a line joins, as its name: `↔` when arrows lead both ways. */
export function lineName({ arrows }: Line): string {
  const [first, second] = arrows;
  if (first === undefined) return '';
  return `${first.from} ${second === undefined ? '→' : '↔'} ${first.to}`;
}

/** An arrow in words, with every event that it stands for. */
export function arrowText({ from, to, labels }: DiagramArrow): string {
  return `${from} → ${to}: ${labels.join(', ')}`;
}
