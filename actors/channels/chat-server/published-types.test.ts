/**
 * What the channel writes and reads, held to the types that Mattermost publishes for its clients. Most of it is checked
 * when this file is compiled; the requests of every operation about posts when it runs.
 */
import type { Channel, ChannelMembership } from '@mattermost/types/channels';
import type { ClientConfig } from '@mattermost/types/config';
import { isMessageAttachmentArray, type MessageAttachment } from '@mattermost/types/message_attachments';
import type { Post, PostList } from '@mattermost/types/posts';
import type { Role } from '@mattermost/types/roles';
import type { Team } from '@mattermost/types/teams';
import type { UserProfile } from '@mattermost/types/users';
import { expect, test } from 'vitest';
import type { chatCalls, NewPost, PostAttachment, PostPatch } from './operations.ts';
import { ANN, world } from './world.fixture.ts';

type Calls = typeof chatCalls;
/** What a call reads of an answer. */
type Read<Name extends keyof Calls> = NonNullable<ReturnType<ReturnType<Calls[Name]>['read']>>;

/** Whatever the server may answer is what the channel reads: a field that it does not have fails the compilation. */
const READ = {
  getMe: (answer: UserProfile): Read<'getMe'> => answer,
  findUser: (answer: UserProfile): Read<'findUser'> => answer,
  getRoles: (answer: Role[]): Read<'getRoles'> => answer,
  getClientConfig: (answer: ClientConfig): Read<'getClientConfig'> => answer,
  listTeams: (answer: Team[]): Read<'listTeams'> => answer,
  listChannels: (answer: Channel[]): Read<'listChannels'> => answer,
  getChannelMember: (answer: ChannelMembership): Read<'getChannelMember'> => answer,
  createPost: (answer: Post): Read<'createPost'> => answer,
  findPosts: (answer: PostList): Read<'findPosts'> => answer,
};

/** Whatever the channel posts is part of a Post. Clients never see the `integration` of a button. */
const WRITTEN = {
  createPost: ({ props, ...post }: NewPost): Partial<Post> => ({ ...post, props: { ...props } }),
  patchPost: ({ message, props }: PostPatch): Partial<Post> => ({ message, props: { ...props } }),
  attachment: ({ actions, ...attachment }: PostAttachment): MessageAttachment => ({
    ...attachment,
    actions: actions.map(({ id, type, name, style }) => ({ id, type, name, style })),
  }),
};

test('posts, edits and replies hold attachments as the clients of Mattermost know them', async () => {
  expect(Object.keys({ ...READ, ...WRITTEN })).toHaveLength(11);
  const on = world();
  await on.publish({}, [{ type: 'user', id: ANN }]);
  const [root] = on.server.posts;
  await on.edit(root?.id ?? '', { status: 'snoozed' });
  await on.reply(root?.id ?? '', { event: 'reminder', owner: 'ann' });
  const bodies = on.records.flatMap(({ request }) =>
    request.body ? [JSON.parse(String(request.body))] : [],
  );
  const attachments = bodies.flatMap(({ props }) => props?.attachments ?? []);
  expect(attachments.length).toBeGreaterThanOrEqual(3);
  expect(isMessageAttachmentArray(attachments)).toBe(true);
});
