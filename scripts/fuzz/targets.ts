/** THE targets of guided fuzzing: a file of `targets/` and a folder of `corpus/` each. */
export const TARGETS = {
  route: { what: 'request targets, from their bytes to the class that is decided', maxBytes: 256 },
  cookie: { what: 'Cookie headers, and what is signed with the right secret', maxBytes: 600 },
  origin: { what: 'Origin and Host', maxBytes: 200 },
  multipart: { what: 'forms, however they are cut', maxBytes: 1024 },
  events: { what: 'event streams, however they are cut', maxBytes: 1024 },
  'env-file': { what: 'environment files, and a change of one value', maxBytes: 256 },
  json: { what: 'JSON bodies', maxBytes: 512 },
  toml: { what: 'configuration files', maxBytes: 256 },
  tar: { what: 'archives, however they are cut', maxBytes: 4096, isAsync: true },
  gguf: { what: 'headers of model files', maxBytes: 4096, isAsync: true, seconds: 60 },
} as const satisfies Record<string, Target>;

export interface Target {
  readonly what: string;
  /** Bytes of the longest input. */
  readonly maxBytes: number;
  /** The target answers with a promise. */
  readonly isAsync?: true;
  /** What one input may take; ten by default. Reading a crafted model file takes long: that is done apart and bounded. */
  readonly seconds?: number;
}

export type TargetName = keyof typeof TARGETS;
