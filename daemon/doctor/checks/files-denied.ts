import type { DoctorInput } from '../facts.ts';
import type { Finding } from '../finding.ts';

type Check = (facts: DoctorInput) => readonly Finding[] | Promise<readonly Finding[]>;

/**
 * Whether this user may not read config.toml or api.env. What they say is then unknown, and a verdict by the defaults would be a
 * guess: check `configuration` says so, once for all.
 */
export const areFilesDenied = ({ settings }: Pick<DoctorInput, 'settings'>): boolean =>
  settings.denied().length > 0;

/** A check that knows nothing where the files may not be read, and says nothing then. */
export const requiresFiles =
  (check: Check): Check =>
  (facts) =>
    areFilesDenied(facts) ? [] : check(facts);

const DENIED: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);

/** Whether it is this user who may not. */
export const isDenied = (error: unknown): boolean => DENIED.has((error as NodeJS.ErrnoException).code);
