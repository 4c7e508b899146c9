/** Message bodies: CommonMark with strikethrough and Mention markers, checked and drawn as safe HTML (bridge §3.6). */
import { HtmlRenderer, Node, Parser } from 'commonmark';
import type { Mention } from './shapes.ts';
import { invalid } from './wire.ts';

const MARKER = 'svc-mention:';
/** What the protocol says never comes. */
const NEVER: Readonly<Record<string, string>> = {
  heading: 'a heading',
  image: 'an image',
  html_inline: 'raw HTML',
  html_block: 'raw HTML',
};

const renderer = new HtmlRenderer({ safe: true, softbreak: ' ' });

/** @throws Refusal when the body holds something that the protocol forbids */
export function checkBody(body: string, { mayMention }: { readonly mayMention: boolean }): void {
  for (const node of nodesOf(parse(body))) {
    const never = NEVER[node.type];
    if (never) throw invalid('body', `holds ${never}`);
    if (node.type !== 'link') continue;
    const target = node.destination ?? '';
    const isMarker = target.startsWith(MARKER);
    if (isMarker && !mayMention) throw invalid('body', 'holds a Mention marker though notify is false');
    if (!isMarker && !/^https?:\/\//i.test(target)) throw invalid('body', 'holds a link that is not http(s)');
  }
}

/** @param mentions what markers may name; none where the bridge has no native Mentions */
export function render(body: string, mentions: readonly Mention[]): string {
  const root = parse(body);
  for (const node of nodesOf(root)) {
    if (node.type === 'link' && node.destination?.startsWith(MARKER)) drawMarker(node, mentions);
    strikeThrough(node);
  }
  return renderer.render(root);
}

function parse(body: string): Node {
  return new Parser().parse(body);
}

function nodesOf(root: Node): Node[] {
  const walker = root.walker();
  const nodes: Node[] = [];
  for (let step = walker.next(); step; step = walker.next()) if (step.entering) nodes.push(step.node);
  return nodes;
}

/** A marker is the Mention that it names, or its text alone. */
function drawMarker(link: Node, mentions: readonly Mention[]): void {
  const ref = link.destination?.slice(MARKER.length);
  const isKnown = mentions.some((mention) => mention.ref === ref && mention.type === 'user');
  const drawn = custom(isKnown ? '<strong class="mention">' : '', isKnown ? '</strong>' : '');
  link.insertBefore(drawn);
  moveInto(drawn, childrenOf(link));
  link.unlink();
}

/** Pairs of `~~` among the children of one node; an escaped tilde is a text of its own and makes none. */
function strikeThrough(parent: Node): void {
  const marks = childrenOf(parent).flatMap((child) => (child.type === 'text' ? splitAtTildes(child) : []));
  for (let index = 0; index + 1 < marks.length; index += 2) {
    const [open, close] = [marks[index], marks[index + 1]];
    if (!open || !close) return;
    const drawn = custom('<del>', '</del>');
    open.insertBefore(drawn);
    const siblings = childrenOf(parent);
    moveInto(drawn, siblings.slice(siblings.indexOf(open) + 1, siblings.indexOf(close)));
    open.unlink();
    close.unlink();
  }
}

/** Gives each `~~` a text node of its own. @returns those */
function splitAtTildes(text: Node): Node[] {
  const pieces = (text.literal ?? '').split(/((?<!~)~~(?!~))/);
  if (pieces.length === 1) return [];
  const nodes = pieces.map((literal) => {
    const node = new Node('text');
    node.literal = literal;
    text.insertBefore(node);
    return node;
  });
  text.unlink();
  return nodes.filter(({ literal }) => literal === '~~');
}

function custom(onEnter: string, onExit: string): Node {
  const node = new Node('custom_inline');
  node.onEnter = onEnter;
  node.onExit = onExit;
  return node;
}

function childrenOf(parent: Node): Node[] {
  const children: Node[] = [];
  for (let child = parent.firstChild; child; child = child.next) children.push(child);
  return children;
}

function moveInto(target: Node, nodes: readonly Node[]): void {
  for (const node of nodes) target.appendChild(node);
}

/** Text as HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Fit for text and for quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

/** Plain text as a paragraph that keeps its lines; addresses in it can be followed, as in any messenger. */
export function plain(text: string): string {
  const linked = escapeHtml(text).replace(
    /https?:\/\/(?:[^\s&]|&amp;)*(?:[^\s&.,;:!?)]|&amp;)/g,
    '<a href="$&">$&</a>',
  );
  return `<p class="plain">${linked}</p>`;
}
