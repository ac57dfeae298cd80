/**
 * Keys that can be set in the slot file only, because they name programs, addresses or the environment of an
 * engine.
 */
export const FILE_ONLY_KEYS: Readonly<Record<string, string>> = {
  runner: 'How the engine is run; the default is the first runner of the engine',
  batch: 'Tokens that are read in one step',
  extra_args: 'Arguments after those of the engine',
  env: 'Environment variables of the engine, as a table',
  vision: 'Whether the model reads images; true without the key when the arguments name a projector',
  dimensions: 'Shorter vector lengths that an embedding model was trained for',
  command: 'The program and its first arguments, instead of the program of the engine',
  health: 'Path of the request that tells whether the model is loaded',
  image: 'Container image',
  pull: 'When to pull the image',
  port: 'Port inside the container',
  url: 'Scheme, host and port of a server that already runs (runner `attach`)',
  key_env: 'Environment variable that holds the key of the server or program',
};

/** Descriptions of defaults that depend on the slot or engine. */
export const DEFAULTS_IN_WORDS: Readonly<Record<string, string>> = {
  type: 'from the name of the slot, else `llm`',
  engine: 'the built-in engine of the type',
  runner: 'first runner of the engine',
  model: 'chosen by the gateway for `agent`, `embed`, `rerank`, `tts` and `stt`',
  context: 'chosen by the engine',
  batch: 'chosen by the engine',
  autoload: '`true` for `agent`, else `false`',
  idle_unload: '15 min; never for `agent`',
};
