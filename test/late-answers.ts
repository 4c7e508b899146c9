/**
 * Lets everything be answered late, to find what counts on quick answers:
 * `LATE_ANSWERS=1 npx vitest run --project system test/crash`. The tests load it, whose messengers answer later, and as
 * `?sockets` each process of the service, which hears later of PostgreSQL, Redis and messengers: in order, by a time that
 * is another one for every piece.
 */
import { ServerResponse } from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';

const MESSENGERS_LATER_MS = 250;
/** Mostly a little, and one time in ten so much that what is usually first is not. */
const soonOrLate = () => (Math.random() < 0.9 ? Math.random() * 8 : 50 + Math.random() * 100);

if (new URL(import.meta.url).search === '?sockets') hearLater();
else answerLater();

function answerLater(): void {
  const { end } = ServerResponse.prototype;
  ServerResponse.prototype.end = function (this: ServerResponse, ...words: unknown[]) {
    setTimeout(() => Reflect.apply(end, this, words), MESSENGERS_LATER_MS);
    return this;
  } as typeof end;
}

/** Of sockets that this process connected. What was not heard when one is destroyed is lost, as on any line. */
function hearLater(): void {
  const waiting = new WeakMap<net.Socket, unknown[][]>();
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (this: net.Socket, ...words: unknown[]) {
    waiting.set(this, []);
    return Reflect.apply(connect, this, words);
  } as typeof connect;
  const { push } = Readable.prototype;
  const passOn = (socket: net.Socket, pieces: unknown[][]) => {
    setTimeout(() => {
      if (waiting.get(socket) !== pieces || socket.destroyed) return;
      Reflect.apply(push, socket, pieces.shift() ?? []);
      if (pieces.length > 0) passOn(socket, pieces);
    }, soonOrLate());
  };
  net.Socket.prototype.push = function (this: net.Socket, ...piece: unknown[]) {
    const pieces = waiting.get(this);
    if (pieces === undefined) return Reflect.apply(push, this, piece);
    pieces.push(piece);
    if (pieces.length === 1) passOn(this, pieces);
    return true;
  } as typeof push;
}
