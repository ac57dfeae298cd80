import type { z } from 'zod';
import type { Outbound } from '../net/outbound.ts';
import { ContainerEngineError, unreachable } from './engine-error.ts';
import { apiVersion, type EngineInfo, engineInfo } from './engine-info.ts';
import { type EngineCall, type Exchange, exchangeOver } from './exchange.ts';
import { fullImageName } from './image-name.ts';
import { LogFrames } from './log-frames.ts';
import { PullProgress } from './pull-progress.ts';
import * as responses from './responses.ts';

/** A container in a list. */
export interface ListedContainer {
  readonly id: string;
  readonly running: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** The inspected state of a container. */
export interface ContainerState {
  readonly id: string;
  readonly running: boolean;
  /** Pid on the host. 0 when it is not running. */
  readonly pid: number;
  readonly exitCode: number;
  /** It was killed because of its memory limit. */
  readonly outOfMemory: boolean;
  /** Error text of the engine. Empty when there is none. */
  readonly error: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Host port of each published port, with keys such as `8080/tcp`. */
  readonly ports: Readonly<Record<string, number>>;
}

export interface PullOptions {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** Share of the known bytes, 0 to 1. */
  onProgress(share: number | null): void;
}

export interface LogOptions {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** Number of earlier lines to include. */
  readonly tail: number;
  /** Whether to wait for more output until the container ends. */
  readonly isLive: boolean;
  onOutput(bytes: Buffer): void;
}

const SHORT_TIMEOUT_MS = 10_000;
/** Images of tens of gigabytes are unpacked and removed, on slow disks too. */
const CHANGE_TIMEOUT_MS = 120_000;
/** Added to the time that the engine has to stop a container. */
const STOP_MARGIN_MS = 20_000;

function failureOf(text: string): string {
  try {
    return responses.FailureResponse.parse(JSON.parse(text)).message;
  } catch {
    return 'no reason given';
  }
}

function parseResponse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ContainerEngineError('The container engine answered what it should not.', null, null, {
      cause,
    });
  }
}

/**
 * Sends a call and returns the response. Throws ContainerEngineError for a status other than 2xx and
 * `alsoAccepted`.
 */
async function send(exchange: Exchange, call: EngineCall, alsoAccepted: readonly number[] = []) {
  const response = await exchange(call).catch((cause: unknown) => {
    throw unreachable(cause, call.signal);
  });
  const { status, text } = response;
  if ((status >= 200 && status < 300) || alsoAccepted.includes(status)) return response;
  throw new ContainerEngineError(`The container engine refuses: ${failureOf(text)}`, status);
}

/** Image names contain slashes, which the API reads as part of the name. */
const inPath = (name: string): string =>
  encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%3A', ':');

/**
 * Client of the engine API that Docker and Podman share, over a unix socket. Every call has a time limit and
 * rejects with ContainerEngineError or the signal's reason. `connect` queries the version of the engine
 * first.
 */
export class ContainerEngine {
  readonly socketPath: string;
  readonly info: EngineInfo;
  readonly #exchange: Exchange;

  private constructor(socketPath: string, info: EngineInfo, exchange: Exchange) {
    this.socketPath = socketPath;
    this.info = info;
    this.#exchange = exchange;
  }

  static async connect(
    outbound: Pick<Outbound, 'dispatch'>,
    socketPath: string,
    signal?: AbortSignal,
    limitMs = SHORT_TIMEOUT_MS,
  ): Promise<ContainerEngine> {
    const exchange = exchangeOver(outbound, socketPath);
    const get = async <T>(path: string, schema: z.ZodType<T>) =>
      parseResponse(schema, (await send(exchange, { method: 'GET', path, signal, limitMs })).text);
    const version = await get('/version', responses.VersionResponse);
    const api = apiVersion(version.ApiVersion, version.MinAPIVersion);
    if (api === null) {
      throw new ContainerEngineError(`The container engine is too old (API ${version.ApiVersion}).`, null);
    }
    const info = await get(`/v${api}/info`, responses.InfoResponse);
    return new ContainerEngine(socketPath, engineInfo(version, info, api), exchange);
  }

  /** Returns whether the image is on this machine. */
  async hasImage(name: string, signal?: AbortSignal): Promise<boolean> {
    const path = `/images/${inPath(fullImageName(name))}/json`;
    return (
      (await this.#call({ method: 'GET', path, signal, limitMs: SHORT_TIMEOUT_MS }, [404])).status !== 404
    );
  }

  /** Pulls an image. Rejects with the error of the engine or the registry. */
  async pull(name: string, { signal, limitMs, onProgress }: PullOptions): Promise<void> {
    const progress = new PullProgress();
    const path = `/images/create?${new URLSearchParams({ fromImage: fullImageName(name) })}`;
    const onData = (chunk: Buffer) => {
      progress.push(chunk);
      onProgress(progress.share);
    };
    await this.#call({ method: 'POST', path, signal, limitMs, onData });
    progress.end();
    if (progress.error !== null) throw new ContainerEngineError(progress.error, null);
  }

  /** Creates a container from an API request body and returns its id. */
  async create(name: string, body: unknown, signal?: AbortSignal): Promise<string> {
    const path = `/containers/create?${new URLSearchParams({ name })}`;
    const { text } = await this.#call({ method: 'POST', path, body, signal, limitMs: CHANGE_TIMEOUT_MS });
    return parseResponse(responses.CreateResponse, text).Id;
  }

  async start(id: string, signal?: AbortSignal): Promise<void> {
    await this.#call(
      { method: 'POST', path: `/containers/${id}/start`, signal, limitMs: CHANGE_TIMEOUT_MS },
      [304],
    );
  }

  /** Returns null when the container does not exist. */
  async inspect(id: string, signal?: AbortSignal): Promise<ContainerState | null> {
    const path = `/containers/${id}/json`;
    const { status, text } = await this.#call(
      { method: 'GET', path, signal, limitMs: SHORT_TIMEOUT_MS },
      [404],
    );
    return status === 404 ? null : stateOf(parseResponse(responses.InspectResponse, text));
  }

  /** Resolves when the container is not running or does not exist. Rejects after `limitMs`. */
  async wait(id: string, limitMs: number, signal?: AbortSignal): Promise<void> {
    const path = `/containers/${id}/wait?condition=not-running`;
    await this.#call({ method: 'POST', path, signal, limitMs }, [404]);
  }

  /** Streams the output, until the container ends if it is live. Rejects at the time limit or on abort. */
  async follow(id: string, { signal, limitMs, tail, isLive, onOutput }: LogOptions): Promise<void> {
    const frames = new LogFrames();
    const follow = isLive ? '1' : '0';
    const query = new URLSearchParams({ follow, stdout: '1', stderr: '1', tail: String(tail) });
    const onData = (chunk: Buffer) => frames.push(chunk).forEach(onOutput);
    await this.#call({ method: 'GET', path: `/containers/${id}/logs?${query}`, signal, limitMs, onData });
  }

  /** Stops the container, kills it after `graceMs`, and resolves when it is not running. */
  async stop(id: string, graceMs: number): Promise<void> {
    const path = `/containers/${id}/stop?t=${Math.ceil(graceMs / 1000)}`;
    await this.#call({ method: 'POST', path, limitMs: graceMs + STOP_MARGIN_MS }, [304, 404]);
  }

  async kill(id: string): Promise<void> {
    const path = `/containers/${id}/kill?signal=SIGKILL`;
    await this.#call({ method: 'POST', path, limitMs: SHORT_TIMEOUT_MS }, [404, 409]);
  }

  /**
   * Removes the container with its anonymous volumes, by force if it is running. A missing container is not
   * an error.
   */
  async remove(id: string): Promise<void> {
    const path = `/containers/${id}?force=1&v=1`;
    await this.#call({ method: 'DELETE', path, limitMs: CHANGE_TIMEOUT_MS }, [404]);
  }

  /** Lists all containers, running or not, with all of these labels. */
  async list(labels: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ListedContainer[]> {
    const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const query = new URLSearchParams({ all: '1', filters: JSON.stringify({ label }) });
    const path = `/containers/json?${query}`;
    const { text } = await this.#call({ method: 'GET', path, signal, limitMs: SHORT_TIMEOUT_MS });
    return parseResponse(responses.ListResponse, text).map(({ Id, State, Labels }) => ({
      id: Id,
      running: State === 'running',
      labels: Labels ?? {},
    }));
  }

  #call(call: EngineCall, alsoAccepted: readonly number[] = []) {
    return send(this.#exchange, { ...call, path: `/v${this.info.api}${call.path}` }, alsoAccepted);
  }
}

function stateOf(response: z.infer<typeof responses.InspectResponse>): ContainerState {
  const { State, Config, NetworkSettings } = response;
  const published = Object.entries(NetworkSettings?.Ports ?? {}).flatMap(([inside, outside]) => {
    const port = Number(outside?.[0]?.HostPort);
    return Number.isInteger(port) && port > 0 ? [[inside, port] as const] : [];
  });
  return {
    id: response.Id,
    running: State.Running,
    pid: State.Pid,
    exitCode: State.ExitCode,
    outOfMemory: State.OOMKilled ?? false,
    error: State.Error ?? '',
    labels: Config.Labels ?? {},
    ports: Object.fromEntries(published),
  };
}
