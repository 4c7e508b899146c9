/** How well a colour is seen (WCAG 2.2: 3 to 1 for what is no text). */

const BACKGROUNDS = { light: '#ffffff', dark: '#16181d' } as const;
const ENOUGH = 3;

/** The themes on whose background a colour is hard to see. */
export function hardToSee(color: string): readonly (keyof typeof BACKGROUNDS)[] {
  const themes = Object.keys(BACKGROUNDS) as (keyof typeof BACKGROUNDS)[];
  return themes.filter((theme) => contrast(color, BACKGROUNDS[theme]) < ENOUGH);
}

/** @param one,other `#rrggbb` */
function contrast(one: string, other: string): number {
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16)),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
