/** Reads what a proxy says before the socket is handed on: exact numbers of bytes, nothing of what follows lost. */
import type { Socket } from 'node:net';
import { OutboundFailure } from './failure.ts';

export interface SocketReader {
  /** @throws {OutboundFailure} proxy_failed when the proxy hangs up */
  read(bytes: number): Promise<Buffer>;
  /** Up to and with the mark. @throws {OutboundFailure} proxy_failed when it hangs up, or does not come in `most` bytes */
  readUntil(mark: string, most: number): Promise<Buffer>;
  /** Leaves the socket as it was found; bytes that nobody read are put back. */
  release(): void;
}

export function createSocketReader(socket: Socket): SocketReader {
  let held: Buffer = Buffer.alloc(0);
  let failure: OutboundFailure | null = null;
  let wake: () => void = () => undefined;

  const onData = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    wake();
  };
  const onEnd = (cause?: unknown): void => {
    failure = new OutboundFailure('proxy_failed', 'the proxy hung up', cause);
    wake();
  };
  socket.on('data', onData).on('error', onEnd).on('end', onEnd).on('close', onEnd);

  const take = async (ready: () => number | null): Promise<Buffer> => {
    for (;;) {
      const length = ready();
      if (length !== null) {
        const taken = held.subarray(0, length);
        held = held.subarray(length);
        return taken;
      }
      if (failure) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  return {
    read: (bytes) => take(() => (held.length >= bytes ? bytes : null)),
    readUntil: (mark, most) =>
      take(() => {
        const at = held.indexOf(mark, 0, 'latin1');
        if (at >= 0 && at + mark.length <= most) return at + mark.length;
        if (at >= 0 || held.length > most)
          throw new OutboundFailure('proxy_failed', 'the proxy answered too much');
        return null;
      }),
    release() {
      socket.off('data', onData).off('error', onEnd).off('end', onEnd).off('close', onEnd);
      socket.pause();
      if (held.length > 0) socket.unshift(held);
    },
  };
}
