import { resolve } from 'node:path';
import { SetupError } from '../kit/setup-error.ts';
import type { Settings } from '../settings/settings.ts';
import type { RegisteredModel } from './registered-model.ts';
import { splitParts } from './split-files.ts';

/** The file that the operator named for slot `agent`. */
export interface ConfiguredModel {
  /** Absolute; the first part of a split model. */
  path: string;
  /** Where it was named, for messages. */
  origin: string;
  /** True for the command line and the environment, which stand above every file. */
  explicit: boolean;
}

const ORIGINS = { env: 'SVC_MODEL', file: 'models.agent in config.toml', default: '' } as const;

/** What `--model` names, else SVC_MODEL or `models.agent`; null when nothing is named. */
export function configuredModel(
  settings: Pick<Settings, 'resolve'>,
  override: string | null,
): ConfiguredModel | null {
  const { value, source } = settings.resolve('model');
  const named = override ?? value;
  if (named === '') return null;
  const path = resolve(named);
  return {
    path: splitParts(path)[0] ?? path,
    origin: override === null ? ORIGINS[source] : '--model',
    explicit: override !== null || source === 'env',
  };
}

/** The configured file as a chat model; throws SetupError when it is none. `found` is the model, or why there is none. */
export function usableChatModel(
  { path, origin }: ConfiguredModel,
  found: RegisteredModel | Error,
): RegisteredModel {
  if (found instanceof Error) {
    throw new SetupError(
      `${origin} names ${path}, which can't be used: ${found.message}.`,
      'Give the path of a whole .gguf chat model, or leave the setting out.',
    );
  }
  if (found.type === 'llm') return found;
  throw new SetupError(
    `${origin} names ${path}, which is no chat model (its type is ${found.type}).`,
    'Slot agent needs a chat model; put other models into a folder of models.folders.',
  );
}
