/** The shared worker in which the hub of a browser runs. Its address has a hash of what it does: a new build makes a new one. */
import { runHub } from './hub.ts';

runHub(`tocsin.live ${self.location.pathname}`);
