import type { WorkerConfig } from '../workers/protocol.ts';
import type { SpeechConfig } from '../workers/speech-config.ts';

/** How an engine is run. */
export type RunnerId = 'worker' | 'process' | 'container' | 'attach';

/** What each worker program is told beside its key. */
export interface WorkerSettings {
  readonly llama: Omit<WorkerConfig, 'key'>;
  readonly speech: Omit<SpeechConfig, 'key'>;
}

/** A program of ours, in a process of its own; its settings and its key travel over IPC. */
export type WorkerRunSpec = {
  readonly [P in keyof WorkerSettings]: {
    readonly runner: 'worker';
    readonly program: P;
    readonly settings: WorkerSettings[P];
  };
}[keyof WorkerSettings];

/**
 * The one question that tells whether an engine without IPC has loaded its model. A status of `loading` (or no answer)
 * means "ask again", 2xx means ready once the body holds `contains`, anything else means that this is not our engine.
 */
export interface Probe {
  readonly path: string;
  readonly loading: readonly number[];
  readonly contains?: string;
}

/** How the key of one start reaches an engine; never through its arguments. `none`: the engine knows no keys. */
export type KeyDelivery =
  | { readonly by: 'env'; readonly name: string }
  /** A file that only its owner can read; `{key_file}` in the arguments is its path. */
  | { readonly by: 'file' }
  | { readonly by: 'none' };

/** A text in the output of an engine by which it shows that it does less than it was asked for. */
export interface FatalOutput {
  readonly says: string;
  /** Why it is ended, in one line. */
  readonly reason: string;
}

/**
 * Several slots that one process serves, because the hardware takes one only. The first start brings the process up,
 * the last stop ends it. `claim` is what only one of them can have; a slot that claims something else is refused.
 */
export interface SharedProcess {
  readonly name: string;
  readonly claim: string | null;
}

/**
 * A program of somebody else, started by us. In `args` and `env` these are filled in: `{host}` and `{port}` (where it
 * must listen), `{model}` (the path of the model), `{key_file}`.
 */
export interface ProcessRunSpec {
  readonly runner: 'process';
  /** An absolute path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly key: KeyDelivery;
  readonly probe: Probe;
  /** How to get the program, for the reason when it is missing. */
  readonly install: string;
  readonly shared: SharedProcess | null;
  readonly unfit: readonly FatalOutput[];
}

export interface Mount {
  /** Absolute, on the host. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** `cdi`: a name such as `nvidia.com/gpu=0`; `node`: a device file such as `/dev/dri`. */
export type ContainerDevice =
  | { readonly by: 'cdi'; readonly name: string }
  | { readonly by: 'node'; readonly path: string };

/**
 * An image, started by us. In `args` and `env` these are filled in: `{host}` (0.0.0.0), `{port}` (the port inside),
 * `{model}` (the path of the model inside, `modelPath` of this).
 */
export interface ContainerRunSpec {
  readonly runner: 'container';
  readonly image: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly ContainerDevice[];
  /** Where the engine listens inside. */
  readonly port: number;
  /** Path of the model inside; null when the image has its own. */
  readonly modelPath: string | null;
  readonly key: KeyDelivery;
  readonly pull: 'missing' | 'never' | 'always';
  /** Bytes of `/dev/shm`; null for the engine's default. */
  readonly shmBytes: number | null;
  /** Most bytes of memory; none when absent. */
  readonly memoryBytes?: number | null;
  readonly probe: Probe;
}

/** What a server that runs on is told when its slot lets go of it, so that it frees its device. */
export interface UnloadCall {
  readonly path: string;
  /** Sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An address that somebody else runs. */
export interface AttachRunSpec {
  readonly runner: 'attach';
  /** `http://HOST:PORT`, without a path. */
  readonly url: string;
  /** The variable that holds its bearer key; null when it takes none. */
  readonly keyVariable: string | null;
  readonly probe: Probe;
  readonly farewell?: UnloadCall;
}

export type RunSpec = WorkerRunSpec | ProcessRunSpec | ContainerRunSpec | AttachRunSpec;
