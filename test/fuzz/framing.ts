/** Requests as bytes: heads, lengths and chunks that are almost right. */
import type { Random } from '../simulation/random.ts';
import { oddText } from './values.ts';

const BODY = '{"login":"nobody","password":"wrong"}';

const LINES = [
  ...[
    'Content-Length: 37',
    'Content-Length: 0',
    'Content-Length: 99',
    'Content-Length: -1',
    'Content-Length: 37, 37',
  ],
  ...[
    'Content-Length: 99999999999999999999',
    'Content-Length:',
    'Content-Length : 37',
    'Content-Length: 0x25',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: Chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding:',
  ],
  ...[
    'Transfer-Encoding: identity',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding\t: chunked',
    'Host: other',
    'Host: a/b',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: upgrade',
    'Upgrade: websocket',
    'Upgrade: h2c',
  ],
  ...[
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    'Expect: 100-continue',
    'Expect: x',
  ],
  ...[
    'Cookie: svc_session=x',
    'Cookie: ',
    'Authorization: Bearer x',
    'Authorization: Basic eDp4',
    'X-CSRF-Token: x',
  ],
  ...[
    'Content-Type: application/json',
    'Content-Encoding: gzip',
    'Range: bytes=0-0',
    'If-None-Match: *',
    ': x',
    'x',
    'X:',
  ],
];

const TARGETS = [
  ...[
    '/',
    '/api/v1/sessions',
    '/api/v1/me',
    '/api/v1/ingest',
    '/api/v1/ingest/svc_int_x',
    '/api/v1/heartbeat',
    '/health/ready',
  ],
  ...[
    '/metrics',
    '//',
    '/..',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/%00',
    '/%',
    '/?',
    '/?%',
    '*',
    'http://other/',
    'other:443',
    '/#x',
  ],
  ...['/api/v1/callbacks/bridge/CN0000000000AA', '/api/v1/alert-groups?limit=1', '/index.html', '/assets/'],
];

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
  'get',
  'PRI',
  '',
  'G\0T',
];

export function rawRequest(random: Random): Buffer {
  const lines = [
    `${random.pick(METHODS)} ${random.pick(TARGETS)} ${random.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 x'])}`,
    `X-Forwarded-For: 203.0.113.${random.int(256)}`,
    ...(random.chance(0.95) ? ['Host: tocsin'] : []),
    ...Array.from({ length: random.int(5) }, () =>
      random.chance(0.9) ? random.pick(LINES) : `X-${random.int(9)}: ${oddText(random)}`,
    ),
  ];
  if (random.chance(0.05)) lines.push(...Array<string>(random.pick([99, 100, 101, 500])).fill('X-Many: y'));
  const end = random.chance(0.9) ? '\r\n' : random.pick(['\n', '\r', '\r\n\r\n', '\n\r']);
  const text = `${lines.join('\r\n')}${end}${random.chance(0.95) ? '\r\n' : ''}${random.chance(0.6) ? contentOf(random) : ''}`;
  const second = random.chance(0.3) ? `GET /api/v1/me HTTP/1.1\r\nHost: tocsin\r\n\r\n` : '';
  const bytes = Buffer.from(text + second, random.chance(0.5) ? 'latin1' : 'utf8');
  if (random.chance(0.9)) return bytes;
  const at = random.int(bytes.length);
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(random.bytes(1 + random.int(4))),
    bytes.subarray(at),
  ]);
}

function contentOf(random: Random): string {
  const size = random.pick(['25', '025', '0x25', '-25', '25;a=b', '25 ', 'ffffffffffffffff', '', 'g']);
  const end = random.pick(['\r\n', '\r\n', '\n', 'XX']);
  return random.pick([
    BODY,
    `${size}\r\n${BODY}${end}0\r\n\r\n`,
    `${size}\r\n${BODY}${end}0\r\nTrailer: x\r\n\r\n`,
    `${BODY}${BODY}`,
  ]);
}
