import type { DoctorInput } from '../doctor-input.ts';
import type { Finding } from '../finding.ts';
import { configuration } from './configuration.ts';
import { database } from './database.ts';
import { engines } from './engines.ts';
import { files } from './files.ts';
import { requiresFiles } from './files-denied.ts';
import { gateway, port } from './gateway.ts';
import { containers, devices, groups, threads } from './machine.ts';
import { modelFiles } from './model-files.ts';
import { pendingSlots } from './pending-slots.ts';
import { exposure, proxy } from './posture.ts';
import { clock, disk, models } from './storage.ts';

export type Check = (input: DoctorInput) => readonly Finding[] | Promise<readonly Finding[]>;

/** All checks, in display order. */
export const CHECKS: Readonly<Record<string, Check>> = {
  gateway,
  port,
  configuration,
  files,
  database,
  exposure,
  proxy,
  disk,
  clock,
  models: requiresFiles(models),
  'model files': modelFiles,
  slots: pendingSlots,
  engines,
  devices,
  groups,
  containers,
  threads: requiresFiles(threads),
};
