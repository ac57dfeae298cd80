import type { WorkerConfig } from '../workers/protocol.ts';
import type { SpeechConfig } from '../workers/speech-config.ts';

/** Ids of the ways to run an engine. */
export type RunnerId = 'worker' | 'process' | 'container' | 'attach';

/** The settings of each worker program that its engine plans. */
export interface WorkerSettings {
  readonly llama: Omit<WorkerConfig, 'key' | 'kvCache'>;
  readonly speech: Omit<SpeechConfig, 'key'>;
}

/** A worker program of the gateway. Its settings and its key are sent over IPC. */
export type WorkerRunSpec = {
  readonly [P in keyof WorkerSettings]: {
    readonly runner: 'worker';
    readonly program: P;
    readonly settings: WorkerSettings[P];
  };
}[keyof WorkerSettings];

/**
 * The request that shows whether an engine without IPC has loaded its model. A status in `loading` (or no response)
 * means "probe again", 2xx means ready once the body contains `contains`, anything else means that this is not our
 * engine.
 */
export interface Probe {
  readonly path: string;
  readonly loading: readonly number[];
  readonly contains?: string;
}

/** How the key of one start reaches an engine; never through its arguments. `none`: the engine has no keys. */
export type KeyDelivery =
  | { readonly by: 'env'; readonly name: string }
  /** A file that only its owner can read; `{key_file}` in the arguments is replaced by its path. */
  | { readonly by: 'file' }
  | { readonly by: 'none' };

/** A text in the output of an engine that shows that it cannot do what was requested. */
export interface FatalOutput {
  readonly text: string;
  /** Why the engine is stopped, in one line. */
  readonly reason: string;
}

/**
 * A process that serves several slots, because the hardware runs one only. The first start starts the process, the
 * last stop ends it. Only one slot can set `claim`; a slot with another claim is refused.
 */
export interface SharedProcess {
  readonly name: string;
  readonly claim: string | null;
}

/**
 * An external program that the gateway starts. `args` and `env` may contain `{host}` and `{port}` (where it must
 * listen), `{model}` (the path of the model) and `{key_file}`.
 */
export interface ProcessRunSpec {
  readonly runner: 'process';
  /** An absolute path, or a name that is searched in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly key: KeyDelivery;
  readonly probe: Probe;
  /** How to install the program, for the error when it is missing. */
  readonly install: string;
  readonly shared: SharedProcess | null;
  readonly unfit: readonly FatalOutput[];
  /** The program saves and restores the conversations of its sequences, as llama-server does. */
  readonly savesSequences?: boolean;
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
 * An image that the gateway starts. `args` and `env` may contain `{host}` (0.0.0.0), `{port}` (the port inside) and
 * `{model}` (`modelPath`).
 */
export interface ContainerRunSpec {
  readonly runner: 'container';
  readonly image: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly ContainerDevice[];
  /** The port on which the engine listens inside. */
  readonly port: number;
  /** Path of the model inside; null when the image contains its model. */
  readonly modelPath: string | null;
  readonly key: KeyDelivery;
  readonly pull: 'missing' | 'never' | 'always';
  /** Bytes of `/dev/shm`; null for the engine's default. */
  readonly shmBytes: number | null;
  /** Memory limit in bytes; absent for none. */
  readonly memoryBytes?: number | null;
  readonly probe: Probe;
}

/** The request to a server that keeps running when its slot is unloaded, so that it frees its device. */
export interface UnloadCall {
  readonly path: string;
  /** Sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that is run by someone else. */
export interface AttachRunSpec {
  readonly runner: 'attach';
  /** `http://HOST:PORT`, without a path. */
  readonly url: string;
  /** The environment variable with its bearer key; null when it takes none. */
  readonly keyVariable: string | null;
  readonly probe: Probe;
  readonly unloadCall?: UnloadCall;
  /** The form in which its probe reports the memory of a card that it holds; absent when it does not. */
  readonly memoryReport?: MemoryReport;
}

/** `comfyui`: `torch_vram_total` of the devices in `/system_stats`. */
export type MemoryReport = 'comfyui';

export type RunSpec = WorkerRunSpec | ProcessRunSpec | ContainerRunSpec | AttachRunSpec;
