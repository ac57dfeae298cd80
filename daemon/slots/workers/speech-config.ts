import { z } from 'zod';

export const SPEECH_KINDS = ['speech', 'transcription', 'espeak'] as const;

const config = z.object({
  /** A voice, a recogniser, or the program espeak-ng. */
  kind: z.enum(SPEECH_KINDS),
  /**
   * Absolute path of the model's folder, or of the program for `espeak`. When empty, the program is searched.
   */
  modelPath: z.string(),
  /** The id of the served model. */
  modelId: z.string().min(1),
  /** Bearer key that every route except `GET /health` requires. */
  key: z.string().min(1),
  /** Concurrent requests. They alternate piece by piece. */
  parallel: z.int().min(1).max(256),
  threads: z.int().min(1),
  /** Requests that may wait before 429. */
  queueLimit: z.int().min(0),
});

/** Configuration of a speech worker. Sent once over IPC. */
export type SpeechConfig = z.infer<typeof config>;

const command = z.object({ type: z.literal('start'), config });

/** Parses the daemon's first message. Throws an Error that names the invalid field, never its value. */
export function readSpeechCommand(message: unknown): SpeechConfig {
  const parsed = command.safeParse(message);
  if (parsed.success) return parsed.data.config;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw new Error(`the worker's configuration is wrong: ${fields}`);
}
