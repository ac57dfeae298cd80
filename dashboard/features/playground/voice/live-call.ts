import { useSyncExternalStore } from 'react';
import type { ServerEvent } from '../../../../daemon/contract/realtime.ts';
import { type FailureInfo, toFailureInfo } from '../../../api/api-error.ts';
import { beginWork } from '../../../api/busy.ts';
import { openMicrophone } from '../sound/microphone.ts';
import { loudness, RATE, samplesOf, toBase64 } from '../sound/pcm.ts';
import { Player, samplesOfFile } from './player.ts';
import { openVoiceSocket, type VoiceSocket } from './socket.ts';
import { EMPTY_TRANSCRIPT, type Transcript, withEvent } from './transcript.ts';

export interface CallState {
  readonly phase: 'idle' | 'opening' | 'live' | 'ended';
  readonly microphone: 'off' | 'on' | 'muted';
  /** Microphone level from 0 to 1. */
  readonly level: number;
  readonly transcript: Transcript;
  readonly failure: FailureInfo | null;
  /** Milliseconds from the end of the last turn to the first audio of the answer in this browser. */
  readonly firstSoundMs: number | null;
}

/** Options of a session. */
export interface CallSetup {
  readonly model: string;
  readonly instructions: string;
  readonly voice: string;
  readonly microphone: boolean;
}

const INITIAL: CallState = {
  phase: 'idle',
  microphone: 'off',
  level: 0,
  transcript: EMPTY_TRANSCRIPT,
  failure: null,
  firstSoundMs: null,
};

/** A recording is sent in blocks of 0.2 s; the silence after it ends the turn. */
const BLOCK_SAMPLES = RATE / 5;
const SILENCE = new Int16Array(RATE * 0.8);
/** Five minutes, the limit of one turn. */
const MAX_SAMPLES = RATE * 300;

/** A live conversation. Lives outside the view, so that it continues while another view is open. */
class LiveCall {
  readonly #listeners = new Set<() => void>();
  #state = INITIAL;
  /** Aborts everything of the current session, including what is still opening. */
  #session = new AbortController();
  #socket: VoiceSocket | null = null;
  #player: Player | null = null;
  /** Playback that was cut while its answer was still streaming; sent when the answer has ended. */
  #cut: { item: string; playedMs: number } | null = null;
  /** Whether a typed message waits for the end of the answer that it interrupts. */
  #isResponsePending = false;
  /** Serialises recordings. */
  #recordings: Promise<void> = Promise.resolve();
  #turnEnd = 0;
  #endWork = (): void => {};

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): CallState => this.#state;

  #set(change: Partial<CallState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Starts a session. Call it from a click, because browsers otherwise block audio. Never rejects. */
  async start(setup: CallSetup): Promise<void> {
    if (this.#state.phase === 'opening' || this.#state.phase === 'live') return;
    this.#set({ ...INITIAL, phase: 'opening' });
    this.#endWork = beginWork();
    this.#session = new AbortController();
    const { signal } = this.#session;
    try {
      await this.#open(setup, signal);
      if (setup.microphone) await this.#listen(signal);
    } catch (error) {
      // Ignore failures after the abort; the next session may already be running.
      if (!signal.aborted) this.#end(toFailureInfo(error));
    }
  }

  async #open(setup: CallSetup, signal: AbortSignal): Promise<void> {
    this.#player = new Player();
    await this.#player.wake();
    signal.throwIfAborted();
    const socket = await openVoiceSocket(
      setup.model,
      (event) => this.#onEvent(event),
      (failure) => this.#end(toFailureInfo(failure)),
      signal,
    );
    signal.throwIfAborted();
    this.#socket = socket;
    socket.send(sessionOf(setup));
    this.#set({ phase: 'live' });
  }

  /** Ends the session; keeps the transcript. */
  stop(): void {
    this.#end(null);
  }

  #end(failure: FailureInfo | null): void {
    this.#endWork();
    this.#session.abort();
    this.#player?.close();
    this.#player = this.#socket = this.#cut = null;
    this.#isResponsePending = false;
    const transcript = { ...this.#state.transcript, response: null, speaking: false };
    this.#set({ phase: 'ended', microphone: 'off', level: 0, failure, transcript });
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const onSamples = (samples: Int16Array<ArrayBuffer>): void => {
      if (this.#state.microphone !== 'on') return;
      this.#sendSamples(samples);
      this.#set({ level: loudness(samples) });
    };
    try {
      await openMicrophone(onSamples, signal);
      signal.throwIfAborted();
      this.#set({ microphone: 'on' });
    } catch (error) {
      if (!signal.aborted) this.#reportMicrophoneError(error);
    }
  }

  /** Reports a microphone failure. The session continues with typed messages. */
  #reportMicrophoneError(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const transcript = { ...this.#state.transcript, fault: { code: 'microphone', message } };
    this.#set({ transcript });
  }

  #sendSamples(samples: Int16Array<ArrayBuffer>): void {
    this.#socket?.sendSound(base64Of(samples));
  }

  /** Mutes or unmutes the microphone. Sends silence when muting, so that the turn ends. */
  mute(): void {
    const { microphone } = this.#state;
    if (microphone === 'on') void this.#socket?.sendWhole(base64Of(SILENCE));
    if (microphone !== 'off') this.#set({ microphone: microphone === 'on' ? 'muted' : 'on', level: 0 });
  }

  /** Sends a typed message and interrupts the current answer. */
  type(text: string): void {
    const content = [{ type: 'input_text', text }];
    this.#turnEnd = performance.now();
    this.interrupt();
    this.#socket?.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content },
    });
    if (this.#state.transcript.response === null) this.#socket?.send({ type: 'response.create' });
    else this.#isResponsePending = true;
  }

  /** Sends a recording as speech, as fast as possible. Rejects when it cannot be decoded or is too long. */
  async play(file: Blob): Promise<void> {
    const samples = await samplesOfFile(file);
    if (samples.length > MAX_SAMPLES) throw new Error('A recording can be at most 5 minutes long.');
    const socket = this.#socket;
    if (socket === null) return;
    this.#recordings = this.#recordings.then(() => sendRecording(socket, samples));
    await this.#recordings;
  }

  /** Interrupts the current answer and reports to the gateway how much of it was played. */
  interrupt(): void {
    if (this.#state.transcript.response !== null) this.#socket?.send({ type: 'response.cancel' });
    this.#stopPlayback();
  }

  #stopPlayback(): void {
    const cut = this.#player?.cut() ?? null;
    const { response, modality, turns } = this.#state.transcript;
    if (response === null) {
      if (cut !== null && !cut.isPlayed) this.#truncate(cut);
      return;
    }
    // Of an answer whose audio has not begun, nothing was heard.
    const answer = turns.findLast(
      ({ who, state, text }) => who === 'model' && state === 'open' && text !== '',
    );
    if (this.#cut !== null && this.#cut.item === answer?.id) return;
    if (cut !== null && (answer === undefined || cut.item === answer.id)) this.#cut = cut;
    else if (answer !== undefined && modality === 'audio') this.#cut = { item: answer.id, playedMs: 0 };
  }

  #truncate({ item, playedMs }: { item: string; playedMs: number }): void {
    this.#socket?.send({
      type: 'conversation.item.truncate',
      item_id: item,
      content_index: 0,
      audio_end_ms: playedMs,
    });
    this.#socket?.send({ type: 'conversation.item.retrieve', item_id: item });
  }

  #onEvent(event: ServerEvent): void {
    if (event.type === 'response.output_audio.delta') this.#playAudio(event);
    if (event.type === 'input_audio_buffer.speech_started') this.#stopPlayback();
    if (event.type === 'input_audio_buffer.speech_stopped') this.#turnEnd = performance.now();
    this.#set({ transcript: withEvent(this.#state.transcript, event) });
    if (event.type !== 'response.done') return;
    if (this.#cut !== null) this.#truncate(this.#cut);
    this.#cut = null;
    if (this.#isResponsePending) this.#socket?.send({ type: 'response.create' });
    this.#isResponsePending = false;
  }

  #playAudio({ item_id, delta }: ServerEvent): void {
    // Drop late audio of an interrupted answer.
    if (this.#cut?.item === item_id) return;
    const first = this.#player?.add(String(item_id), samplesOf(String(delta)));
    if (first) this.#set({ firstSoundMs: Math.round(performance.now() - this.#turnEnd) });
  }
}

const base64Of = (samples: Int16Array<ArrayBuffer>): string => toBase64(new Uint8Array(samples.buffer));

async function sendRecording(socket: VoiceSocket, samples: Int16Array<ArrayBuffer>): Promise<void> {
  for (let at = 0; at < samples.length; at += BLOCK_SAMPLES)
    await socket.sendWhole(base64Of(samples.slice(at, at + BLOCK_SAMPLES)));
  await socket.sendWhole(base64Of(SILENCE));
}

function sessionOf({ instructions, voice }: CallSetup): Record<string, unknown> {
  const output = voice === '' ? {} : { output: { voice } };
  return {
    type: 'session.update',
    session: {
      type: 'realtime',
      ...(instructions.trim() === '' ? {} : { instructions: instructions.trim() }),
      audio: { input: { transcription: {} }, ...output },
    },
  };
}

export const liveCall = new LiveCall();

/** Subscribes to the conversation. */
export function useLiveCall(): CallState {
  return useSyncExternalStore(liveCall.subscribe, liveCall.get);
}
