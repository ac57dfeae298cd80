import { z } from 'zod';

export const SPEECH_KINDS = ['speech', 'transcription', 'espeak'] as const;

const config = z.object({
  /** A voice, a recogniser, or the program espeak-ng. */
  kind: z.enum(SPEECH_KINDS),
  /** Absolute path of the model's folder; of the program for `espeak`, which is looked for when this is empty. */
  modelPath: z.string(),
  /** The id under which the model answers. */
  modelId: z.string().min(1),
  /** Bearer key that every route but `GET /health` demands. */
  key: z.string().min(1),
  /** Requests served at once; they take turns piece by piece. */
  parallel: z.int().min(1).max(256),
  threads: z.int().min(1),
  /** Requests that may wait before 429. */
  queueLimit: z.int().min(0),
});

/** What a speech worker is asked to serve. Sent once over IPC. */
export type SpeechConfig = z.infer<typeof config>;

const command = z.object({ type: z.literal('start'), config });

/** Reads the daemon's first message; throws an Error that names the field at fault (never its value). */
export function readSpeechCommand(message: unknown): SpeechConfig {
  const parsed = command.safeParse(message);
  if (parsed.success) return parsed.data.config;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw new Error(`the worker's configuration is wrong: ${fields}`);
}
