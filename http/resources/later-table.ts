/** The form in which operations of later builds are listed: one line each. */
import type { Method, Needs, OperationShape, Schema } from '../operation.ts';

export type LaterOperation = readonly [
  id: string,
  method: Method,
  path: string,
  needs: Needs,
  summary: string,
  more?: Partial<
    Pick<
      OperationShape<Schema | undefined, Schema | undefined>,
      'ifMatch' | 'credential' | 'alsoIn' | 'mayAlsoNeed'
    >
  >,
];

export const CHANGES = { ifMatch: 'required' } as const;
