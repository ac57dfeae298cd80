import { z } from 'zod';
import { WORKER_KINDS, type WorkerConfig } from './protocol.ts';

const config = z.object({
  kind: z.enum(WORKER_KINDS),
  modelPath: z.string().min(1),
  modelId: z.string().min(1),
  key: z.string().min(1),
  context: z.int().positive().nullable(),
  parallel: z.int().min(1).max(256),
  threads: z.int().min(1),
  device: z.enum(['auto', 'cpu', 'vulkan', 'cuda']),
  gpuLayers: z.int().min(0).nullable(),
  batch: z.int().positive().nullable(),
  queueLimit: z.int().min(0),
  ngramTokens: z.int().min(0).max(16),
  kvCache: z
    .object({
      root: z.string().min(1),
      folder: z.string().min(1),
      maxBytes: z.int().positive(),
      maxStates: z.int().positive(),
      survivesRestart: z.boolean(),
    })
    .nullable()
    .default(null),
});

const command = z.object({ type: z.literal('start'), config });

/** Parses the daemon's first message. Throws an Error that names the invalid field, never its value. */
export function readCommand(message: unknown): WorkerConfig {
  const parsed = command.safeParse(message);
  if (parsed.success) return parsed.data.config;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw new Error(`the worker's configuration is wrong: ${fields}`);
}
