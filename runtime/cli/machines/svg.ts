/** A placed chart as SVG that stands alone: no script, no style sheet, readable on light and dark pages. */
import type { Chart, ChartState } from './chart.ts';
import { type Box, LABEL_LINE, type Placed, type PlacedArrow } from './layout.ts';

const INK = '#24292f';
const LINE = '#57606a';
const PAPER = '#ffffff';
const NEST = '#f6f8fa';
const FONT = 'font-family="system-ui, sans-serif"';

export function svgOf(chart: Chart, layout: Placed): string {
  const { width, height } = layout;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="State machine ${escaped(chart.id)}">`,
    `<title>${escaped(chart.id)}</title>`,
    `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="${LINE}"/></marker></defs>`,
    `<rect width="${width}" height="${height}" fill="${PAPER}"/>`,
    ...chart.states.map((state) => stateMark(state, layout.states.get(state.id))),
    ...layout.arrows.map(arrowMark),
    '</svg>',
    '',
  ].join('\n');
}

function stateMark({ name, initial, final, hasChildren }: ChartState, box: Box | undefined): string {
  if (!box) throw new Error(`the state ${name} has no place`);
  const { x, y, width, height } = box;
  const fill = hasChildren ? NEST : PAPER;
  const frame = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${INK}" stroke-width="${final ? 3 : 1.5}"/>`;
  const begin = initial ? `<circle cx="${x + 12}" cy="${y + 12}" r="4" fill="${INK}"/>` : '';
  const middle = hasChildren ? y + 24 : y + height / 2 + 5;
  const text = `<text x="${x + width / 2}" y="${middle}" text-anchor="middle" ${FONT} font-size="14" font-weight="600" fill="${INK}">${escaped(name)}</text>`;
  return frame + begin + text;
}

function arrowMark({ arrow, points, label }: PlacedArrow): string {
  const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
  const line = `<path d="${path}" fill="none" stroke="${LINE}" stroke-width="1.2" marker-end="url(#tip)"/>`;
  if (!label) return line;
  const rows = arrow.labels.map(
    (text, index) =>
      `<tspan x="${label.x + label.width / 2}" y="${label.y + (index + 0.8) * LABEL_LINE}">${escaped(text)}</tspan>`,
  );
  return `${line}<text text-anchor="middle" ${FONT} font-size="11" fill="${INK}">${rows.join('')}</text>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
