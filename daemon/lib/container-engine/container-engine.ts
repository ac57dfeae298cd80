import type { z } from 'zod';
import type { Outbound } from '../net/outbound.ts';
import { aboutEngine, apiVersion, type EngineAbout } from './about.ts';
import * as answers from './answers.ts';
import { ContainerEngineError, unreachable } from './engine-error.ts';
import { type EngineCall, type Exchange, exchangeOver } from './exchange.ts';
import { wholeImageName } from './image-name.ts';
import { LogFrames } from './log-frames.ts';
import { PullStory } from './pull-story.ts';

/** A container as a list shows it. */
export interface ListedContainer {
  readonly id: string;
  readonly running: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** A container as a look at it shows it. */
export interface ContainerState {
  readonly id: string;
  readonly running: boolean;
  /** As the host numbers it; 0 when it does not run. */
  readonly pid: number;
  readonly exitCode: number;
  /** Its memory limit ended it. */
  readonly outOfMemory: boolean;
  /** What the engine says went wrong; empty when nothing did. */
  readonly error: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Port of the host for each published one, keyed as `8080/tcp`. */
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
  /** Lines from before that are wanted. */
  readonly tail: number;
  onOutput(bytes: Buffer): void;
}

const SHORT_MS = 10_000;
/** Images of tens of gigabytes are unpacked and removed, and disks are slow. */
const CHANGE_MS = 120_000;
/** Beyond the time that the engine itself was given to stop a container. */
const STOP_MARGIN_MS = 20_000;

function failureOf(text: string): string {
  try {
    return answers.FailureAnswer.parse(JSON.parse(text)).message;
  } catch {
    return 'no reason given';
  }
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ContainerEngineError('The container engine answered what it should not.', null, null, {
      cause,
    });
  }
}

/** Sends a call and answers its text; a status beyond 2xx (and `also`) becomes a ContainerEngineError. */
async function sent(exchange: Exchange, call: EngineCall, also: readonly number[] = []) {
  const answer = await exchange(call).catch((cause: unknown) => {
    throw unreachable(cause, call.signal);
  });
  const { status, text } = answer;
  if ((status >= 200 && status < 300) || also.includes(status)) return answer;
  throw new ContainerEngineError(`The container engine refuses: ${failureOf(text)}`, status);
}

/** Image names hold slashes, which the API reads as part of the name. */
const inPath = (name: string): string =>
  encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%3A', ':');

/**
 * The engine API that Docker and Podman share, over a unix socket. Every call has a time limit and rejects with
 * ContainerEngineError or the signal's reason. `connect` asks the engine for its version first.
 */
export class ContainerEngine {
  readonly socketPath: string;
  readonly about: EngineAbout;
  readonly #exchange: Exchange;

  private constructor(socketPath: string, about: EngineAbout, exchange: Exchange) {
    this.socketPath = socketPath;
    this.about = about;
    this.#exchange = exchange;
  }

  static async connect(
    outbound: Pick<Outbound, 'dispatch'>,
    socketPath: string,
    signal?: AbortSignal,
    limitMs = SHORT_MS,
  ): Promise<ContainerEngine> {
    const exchange = exchangeOver(outbound, socketPath);
    const get = async <T>(path: string, schema: z.ZodType<T>) =>
      parsed(schema, (await sent(exchange, { method: 'GET', path, signal, limitMs })).text);
    const version = await get('/version', answers.VersionAnswer);
    const api = apiVersion(version.ApiVersion, version.MinAPIVersion);
    if (api === null) {
      throw new ContainerEngineError(`The container engine is too old (API ${version.ApiVersion}).`, null);
    }
    const info = await get(`/v${api}/info`, answers.InfoAnswer);
    return new ContainerEngine(socketPath, aboutEngine(version, info, api), exchange);
  }

  /** Whether the image is on this machine. */
  async hasImage(name: string, signal?: AbortSignal): Promise<boolean> {
    const path = `/images/${inPath(wholeImageName(name))}/json`;
    return (await this.#call({ method: 'GET', path, signal, limitMs: SHORT_MS }, [404])).status !== 404;
  }

  /** Fetches an image; rejects with what the engine or the registry says when that fails. */
  async pull(name: string, { signal, limitMs, onProgress }: PullOptions): Promise<void> {
    const story = new PullStory();
    const path = `/images/create?${new URLSearchParams({ fromImage: wholeImageName(name) })}`;
    const onData = (chunk: Buffer) => {
      story.push(chunk);
      onProgress(story.share);
    };
    await this.#call({ method: 'POST', path, signal, limitMs, onData });
    story.end();
    if (story.error !== null) throw new ContainerEngineError(story.error, null);
  }

  /** Makes a container from the body of the API and answers its id. */
  async create(name: string, body: unknown, signal?: AbortSignal): Promise<string> {
    const path = `/containers/create?${new URLSearchParams({ name })}`;
    const { text } = await this.#call({ method: 'POST', path, body, signal, limitMs: CHANGE_MS });
    return parsed(answers.CreateAnswer, text).Id;
  }

  async start(id: string, signal?: AbortSignal): Promise<void> {
    await this.#call({ method: 'POST', path: `/containers/${id}/start`, signal, limitMs: CHANGE_MS }, [304]);
  }

  /** Null when there is no such container. */
  async inspect(id: string, signal?: AbortSignal): Promise<ContainerState | null> {
    const path = `/containers/${id}/json`;
    const { status, text } = await this.#call({ method: 'GET', path, signal, limitMs: SHORT_MS }, [404]);
    return status === 404 ? null : stateOf(parsed(answers.InspectAnswer, text));
  }

  /** Resolves when the container does not run; rejects after `limitMs`. A container that is gone has ended too. */
  async wait(id: string, limitMs: number, signal?: AbortSignal): Promise<void> {
    const path = `/containers/${id}/wait?condition=not-running`;
    await this.#call({ method: 'POST', path, signal, limitMs }, [404]);
  }

  /** Follows the output until the container ends, the limit passes or the signal aborts; the last two reject. */
  async follow(id: string, { signal, limitMs, tail, onOutput }: LogOptions): Promise<void> {
    const frames = new LogFrames();
    const query = new URLSearchParams({ follow: '1', stdout: '1', stderr: '1', tail: String(tail) });
    const onData = (chunk: Buffer) => frames.push(chunk).forEach(onOutput);
    await this.#call({ method: 'GET', path: `/containers/${id}/logs?${query}`, signal, limitMs, onData });
  }

  /** Asks it to end, kills it after `graceMs`, and resolves when it does not run. */
  async stop(id: string, graceMs: number): Promise<void> {
    const path = `/containers/${id}/stop?t=${Math.ceil(graceMs / 1000)}`;
    await this.#call({ method: 'POST', path, limitMs: graceMs + STOP_MARGIN_MS }, [304, 404]);
  }

  async kill(id: string): Promise<void> {
    const path = `/containers/${id}/kill?signal=SIGKILL`;
    await this.#call({ method: 'POST', path, limitMs: SHORT_MS }, [404, 409]);
  }

  /** Removes the container with its anonymous volumes, by force if it runs; one that is gone is fine. */
  async remove(id: string): Promise<void> {
    const path = `/containers/${id}?force=1&v=1`;
    await this.#call({ method: 'DELETE', path, limitMs: CHANGE_MS }, [404]);
  }

  /** Every container, running or not, that carries all of these labels. */
  async list(labels: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ListedContainer[]> {
    const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const query = new URLSearchParams({ all: '1', filters: JSON.stringify({ label }) });
    const path = `/containers/json?${query}`;
    const { text } = await this.#call({ method: 'GET', path, signal, limitMs: SHORT_MS });
    return parsed(answers.ListAnswer, text).map(({ Id, State, Labels }) => ({
      id: Id,
      running: State === 'running',
      labels: Labels ?? {},
    }));
  }

  #call(call: EngineCall, also: readonly number[] = []) {
    return sent(this.#exchange, { ...call, path: `/v${this.about.api}${call.path}` }, also);
  }
}

function stateOf(answer: z.infer<typeof answers.InspectAnswer>): ContainerState {
  const { State, Config, NetworkSettings } = answer;
  const published = Object.entries(NetworkSettings?.Ports ?? {}).flatMap(([inside, outside]) => {
    const port = Number(outside?.[0]?.HostPort);
    return Number.isInteger(port) && port > 0 ? [[inside, port] as const] : [];
  });
  return {
    id: answer.Id,
    running: State.Running,
    pid: State.Pid,
    exitCode: State.ExitCode,
    outOfMemory: State.OOMKilled ?? false,
    error: State.Error ?? '',
    labels: Config.Labels ?? {},
    ports: Object.fromEntries(published),
  };
}
