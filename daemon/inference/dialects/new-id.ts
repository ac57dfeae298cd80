import { randomUUID } from 'node:crypto';

/** Returns a new id, for example `msg_` and 32 hexadecimal digits. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;
