/** Every machine of the service by the kind of its actor, for drawing and for the pages that show them. */
import type { AnyStateMachine } from 'xstate';
import { alertGroupMachine } from './alert-group/machine.ts';
import { transitionPage } from './alert-group/transitions.ts';
import { connectionMachine } from './connection/machine.ts';
import { deliveryMachine } from './destination/delivery/machine.ts';
import { destinationMachine } from './destination/machine.ts';
import { feedMachine } from './feed/machine.ts';
import { integrationMachine } from './integration/machine.ts';
import { routeMachine } from './route/machine.ts';

export const machines: Readonly<Record<string, AnyStateMachine>> = {
  alert_group: alertGroupMachine,
  connection: connectionMachine,
  delivery: deliveryMachine,
  destination: destinationMachine,
  feed: feedMachine,
  integration: integrationMachine,
  route: routeMachine,
};

/** Pages that go with the drawings, by file name. */
export const machinePages: Readonly<Record<string, string>> = {
  'alert_group.md': transitionPage(),
};
