/** What tests and previews show: an Alert Group of a Route of the Destination, or the built-in example (delivery §13). */
import type { Monotonic } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { templateLinks } from '../../alert-group/links.ts';
import type { LinkSource } from '../../links/configuration.ts';
import { evaluateLinks } from '../../links/evaluate.ts';
import { sampleMessage } from '../../previews/messages.ts';
import { defaultRoute, type SampleMoment, type SampleReader } from '../../previews/samples.ts';
import type { StoredDestination } from '../ports.ts';
import { peopleOf } from '../sending/people.ts';
import type { GroupScene, SceneReader } from '../sending/scene.ts';

export type TrialSource =
  | { readonly kind: 'example' }
  | { readonly kind: 'alert_group'; readonly groupId: PublicId };

/** Null: there is no such Alert Group on a Route of the Destination. */
export type TrialScenes = (
  source: TrialSource,
  destination: StoredDestination,
  at: SampleMoment,
) => Promise<GroupScene | null>;

export interface TrialScenesDeps {
  readonly scenes: Pick<SceneReader, 'read' | 'settings'>;
  readonly samples: Pick<SampleReader, 'example'>;
  readonly links: Pick<LinkSource, 'current'>;
  readonly monotonic: Monotonic;
}

export function createTrialScenes(deps: TrialScenesDeps): TrialScenes {
  return async (source, destination, at) => {
    if (source.kind === 'example') return exampleScene(deps, destination.id, at);
    const { fields } = destination;
    const connectionId = fields.type === 'webhook' ? null : fields.connection_id;
    const scene = await deps.scenes.read(source.groupId, connectionId, []);
    const route = scene && at.directory.routesById.get(scene.routeId);
    return route?.destinationIds.includes(destination.id) ? scene : null;
  };
}

/** As the first Route of the Destination would have it. */
function exampleScene(
  { scenes, samples, links, monotonic }: TrialScenesDeps,
  id: PublicId,
  at: SampleMoment,
): GroupScene {
  const { directory, now } = at;
  const own = directory.routes.find(({ destinationIds }) => destinationIds.includes(id));
  const route = own ?? defaultRoute(at);
  const data = samples.example(route, at);
  const zone = directory.organization.timeZone;
  const evaluated = evaluateLinks(data, templateLinks(data.alerts), {
    configuration: links.current(),
    ...{ now, zone, monotonic },
  });
  return {
    group: sampleMessage(data, null, evaluated.links, directory),
    data,
    settings: scenes.settings(route.id),
    routeId: route.id,
    resolvedAt: null,
    people: peopleOf(new Map(), directory.usersById),
  };
}
