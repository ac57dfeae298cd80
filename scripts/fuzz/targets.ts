/** The targets of guided fuzzing, each with a file in `targets/` and a folder in `corpus/`. */
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
  /** Whether the target returns a promise. */
  readonly isAsync?: true;
  /**
   * Maximum time per input in seconds; default ten. Reading a crafted model file takes long, in a separate
   * process with a limit.
   */
  readonly seconds?: number;
}

export type TargetName = keyof typeof TARGETS;
