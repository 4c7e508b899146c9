/** References to people and things inside answers: present names where the Directory knows them (api §2). */
import type { Directory } from '../../actors/directory.ts';
import type { EventActor, Principal, UserRef } from '../../actors/model.ts';

export function routeRef(directory: Directory, id: string) {
  return { id, name: directory.routesById.get(id)?.name ?? id };
}

export function integrationRef(directory: Directory, id: string) {
  return { id, name: directory.integrationsById.get(id)?.name ?? id };
}

/** A User by id; `recorded` fills in for one that the Directory does not know. */
export function userRef(directory: Directory, id: string, recorded?: UserRef) {
  const user = directory.usersById.get(id);
  return {
    id,
    name: user?.name ?? recorded?.name ?? id,
    login: user?.login ?? recorded?.login ?? id,
    deactivated: user?.status === 'deleted',
  };
}

export function actorRef(directory: Directory, principal: Principal) {
  if (principal.kind === 'user') return { kind: 'user', ...userRef(directory, principal.id, principal) };
  return { kind: 'service_account', id: principal.id, name: principal.name, deactivated: false };
}

/** The actor of a Timeline entry. */
export function eventActor(directory: Directory, actor: EventActor) {
  if (actor.kind === 'system') return { kind: 'system', reason: actor.reason };
  const common = { id: actor.id, token_name: actor.tokenName, transport: actor.transport };
  if (actor.kind === 'service_account') return { kind: actor.kind, ...common, name: actor.name, login: null };
  const { name, login } = userRef(directory, actor.id, actor);
  return { kind: actor.kind, ...common, name, login };
}
