/** One channel behind a bridge that misbehaves, and what stands in it, by the keys that the service gave. */
import type { Post } from '../../runtime/cli/bridge-reference/messenger.ts';
import {
  type ChaosGateway,
  type GatewayAnswer,
  type Passing,
  startChaosGateway,
} from '../fakes/chaos-gateway.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { createTroubles, type Menu, type Troubles } from './troubles.ts';

export interface Channel {
  readonly name: string;
  readonly bridge: ReferenceBridge;
  readonly gateway: ChaosGateway;
  readonly troubles: Troubles;
  /** Requests that the bridge refused because they broke the protocol. */
  readonly refusals: readonly string[];
  /** Calls by operation, as the bridge saw them. */
  readonly calls: Readonly<Record<string, number>>;
  /** Set once the Destination is there. */
  destinationId: string;
  /** Messages about an Alert Group that were not deleted; `ever`: however many there were. */
  rootsOf(groupId: string): { readonly live: readonly Post[]; readonly ever: number };
  /** Sequence numbers of the events that are told under a message, in the order of the Thread. */
  repliesUnder(messageId: string): readonly number[];
  close(): Promise<void>;
}

const ROOT = /^root-[^-]+-([^-]+)-(\d+)$/;
const REPLY = /^reply-[^-]+-[^-]+-\d+-(\d+)$/;
const INVALID = [400, 404, 413];

export async function startChannel(
  name: string,
  menu: Menu,
  chance: { readonly rate: number; readonly random: () => number },
): Promise<Channel> {
  const bridge = await startReferenceBridge();
  const refusals: string[] = [];
  const calls: Record<string, number> = {};
  const roots = new Map<string, Map<number, string>>();
  const replies = new Map<string, number>();
  /** First Publications: the only messages that are ever deleted, so that each may be published again. */
  const removable = new Set<string>();

  const heard = (asked: Passing, answer: GatewayAnswer): void => {
    const operation = operationOf(asked);
    calls[operation] = (calls[operation] ?? 0) + 1;
    if (INVALID.includes(answer.status)) refusals.push(`${asked.method} ${asked.target}: ${answer.body}`);
    if (answer.status !== 201) return;
    const { message_id: id } = JSON.parse(answer.body) as { message_id: string };
    const key = asked.headers['idempotency-key'] ?? '';
    const reply = REPLY.exec(key);
    if (reply) replies.set(id, Number(reply[1]));
    const root = ROOT.exec(key);
    if (!root?.[1]) return;
    const publication = Number(root[2]);
    roots.set(root[1], (roots.get(root[1]) ?? new Map()).set(publication, id));
    if (publication === 1) removable.add(id);
  };

  const remove = ({ target }: Passing): boolean => {
    const named = /^\/v1\/messages\/([^/]+)/.exec(target)?.[1];
    const post = named === undefined ? undefined : bridge.messenger.find(decodeURIComponent(named));
    if (!post || post.deleted || post.heading?.status === 'resolved') return false;
    if (!removable.delete(post.message_id)) return false;
    post.deleted = true;
    return true;
  };

  const gateway = await startChaosGateway(bridge.url, heard);
  let indexed: { readonly size: number; readonly byRoot: Map<string, number[]> } | null = null;
  /** The messenger's list is long: gone through once whenever it has grown. */
  const index = () => {
    const { posts } = bridge.messenger;
    if (indexed?.size === posts.length + replies.size) return indexed.byRoot;
    const byRoot = new Map<string, number[]>();
    for (const post of posts) {
      if (post.kind !== 'reply' || post.root_id === null) continue;
      byRoot.set(post.root_id, [...(byRoot.get(post.root_id) ?? []), replies.get(post.message_id) ?? -1]);
    }
    indexed = { size: posts.length + replies.size, byRoot };
    return byRoot;
  };
  return {
    ...{ name, bridge, gateway, refusals, calls, destinationId: '' },
    troubles: createTroubles(menu, { ...chance, remove }),
    rootsOf(groupId) {
      const ids = [...(roots.get(groupId)?.values() ?? [])];
      const live = ids.flatMap((id) => bridge.messenger.find(id) ?? []).filter(({ deleted }) => !deleted);
      return { live, ever: ids.length };
    },
    repliesUnder: (messageId) => index().get(messageId) ?? [],
    async close() {
      await gateway.close();
      await bridge.close();
    },
  };
}

/** As the figures name it. */
function operationOf({ method, target }: Passing): string {
  if (/^\/v1\/messages\/[^/]+\/replies/.test(target)) return 'reply';
  if (/^\/v1\/messages/.test(target)) return method === 'PUT' ? 'edit' : 'publish';
  return 'other';
}
