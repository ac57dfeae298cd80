import type { ClientEvent } from '../../contract/realtime.ts';
import { callersError } from './client-event.ts';
import { hearItem, itemDone, joinItem } from './item-list.ts';
import { heardItem, spokenItem } from './items.ts';
import { answerTurn, interruptResponse, missing, speakFirst } from './response.ts';
import { type TurnSettings, turnSettings, USUAL } from './session-config.ts';
import { addSound, bytesOf, dropSound, emptySound, endMs, keepLast, soundMs } from './sound-buffer.ts';
import { bytesIn, formatRow, msOf } from './sound-format.ts';
import type { Step } from './step.ts';
import { FRAME_MS, loudness, nextFrame, SILENT, STARTED_BEFORE_MS } from './vad.ts';

/** Bytes of sound that wait to be committed: nearly six minutes of PCM16. */
export const MOST_SOUND = 16 * 1024 * 1024;
/** Less than this is no recording. */
const LEAST_MS = 100;

export function append(step: Step, { audio, event_id }: ClientEvent<'input_audio_buffer.append'>) {
  const { config, sound } = step.state;
  const bytes = Buffer.from(audio, 'base64');
  const refuse = (code: string, message: string) =>
    step.error(callersError(code, message, { param: 'audio', event_id: event_id ?? null }));
  if (bytes.length % formatRow(config.input.format).bytesPerSample !== 0)
    return refuse('invalid_value', 'The sound ends inside a sample.');
  const turns = turnSettings(config);
  if (turns === null && sound.bytes + bytes.length > MOST_SOUND)
    return refuse('input_audio_buffer_full', 'The buffer is full; commit or clear it.');
  step.set({ sound: addSound(sound, bytes) });
  if (turns !== null) listen(step, turns);
}

/** Judges the frames that are complete, and keeps only what a turn may still need. */
function listen(step: Step, turns: TurnSettings): void {
  const frame = bytesIn(step.state.config.input.format, FRAME_MS);
  // Taken once: what a turn cuts off lies before them, and to find each frame among all blocks costs more than to judge it.
  const fresh = bytesOf(step.state.sound, step.state.judged);
  for (let at = 0; at + frame <= fresh.length; at += frame)
    judge(step, turns, fresh.subarray(at, at + frame));
  const { sound, gate, judged } = step.state;
  if (gate.speaking) {
    if (sound.bytes > MOST_SOUND) stopSpeech(step, turns);
    return;
  }
  const kept = keepLast(sound, turns.prefixMs + STARTED_BEFORE_MS + FRAME_MS);
  step.set({ sound: kept, judged: Math.max(0, judged - (sound.bytes - kept.bytes)) });
}

function judge(step: Step, turns: TurnSettings, frame: Buffer): void {
  const { sound, judged, gate } = step.state;
  const level = loudness(formatRow(sound.format).decode(frame));
  const [next, sign] = nextFrame(gate, level, turns);
  step.set({ gate: next, judged: judged + frame.length });
  if (sign === 'started') startSpeech(step, turns);
  if (sign === 'stopped') stopSpeech(step, turns);
}

function startSpeech(step: Step, turns: TurnSettings): void {
  const { sound, judged } = step.state;
  const from = Math.max(0, judged - bytesIn(sound.format, STARTED_BEFORE_MS + turns.prefixMs));
  const speech = step.newId('item');
  step.set({ sound: dropSound(sound, from), judged: judged - from, speech });
  step.want({ kind: 'idle', ms: null });
  const audio_start_ms = Math.round(step.state.sound.startMs);
  step.send('input_audio_buffer.speech_started', { audio_start_ms, item_id: speech });
  if (turns.interruptResponse) interruptResponse(step);
}

function stopSpeech(step: Step, turns: TurnSettings): void {
  tellStopped(step);
  const item = take(step, step.state.judged);
  if (item !== null && turns.createResponse) answerTurn(step, item);
}

function tellStopped(step: Step): void {
  const { sound, judged, speech } = step.state;
  const audio_end_ms = Math.round(sound.startMs + msOf(sound.format, judged));
  step.send('input_audio_buffer.speech_stopped', { audio_end_ms, item_id: speech });
}

/** The first `count` bytes become an item of the conversation. Answers its id; null when nothing here can understand it. */
function take(step: Step, count: number): string | null {
  const { sound, speech, items, config } = step.state;
  const item = spokenItem(speech ?? step.newId('item'));
  const bytes = bytesOf(sound, 0, count);
  const { gate } = step.state;
  step.set({
    sound: dropSound(sound, count),
    judged: 0,
    speech: null,
    gate: { ...SILENT, noise: gate.noise },
  });
  step.send('input_audio_buffer.committed', { item_id: item.id, previous_item_id: items.at(-1)?.id ?? null });
  joinItem(step, item, null);
  itemDone(step, item);
  if (missing(step, 'stt', config.input.transcription?.model ?? USUAL.stt, null)) return null;
  hearItem(step, item.id, bytes);
  return item.id;
}

export function commit(step: Step, { event_id }: ClientEvent<'input_audio_buffer.commit'>): void {
  const { sound } = step.state;
  if (soundMs(sound) >= LEAST_MS) return void take(step, sound.bytes);
  const message = `Error committing input audio buffer: buffer too small. Expected at least ${LEAST_MS}ms of audio, but buffer only has ${soundMs(sound).toFixed(2)}ms of audio.`;
  step.error(callersError('input_audio_buffer_commit_empty', message, { event_id: event_id ?? null }));
}

export function clear(step: Step): void {
  forget(step, endMs(step.state.sound));
  step.send('input_audio_buffer.cleared');
}

/** Drops the sound that waits, and whatever the gate thought of it. */
export function forget(step: Step, startMs: number): void {
  const { config, gate } = step.state;
  step.set({
    sound: emptySound(config.input.format, startMs),
    judged: 0,
    speech: null,
    gate: { ...SILENT, noise: gate.noise },
  });
}

/**
 * How turns are found may have changed. Speech that goes on stays the item it was announced as: its end is found by the new
 * settings, or it ends now and the caller commits it. A gate that is switched on begins anew.
 */
export function retune(step: Step, before: TurnSettings | null): void {
  const { config, gate, speech } = step.state;
  const now = turnSettings(config);
  if ((now === null) === (before === null)) return;
  if (gate.speaking) tellStopped(step);
  step.set({ gate: { ...SILENT, noise: gate.noise }, judged: 0, speech: now === null ? speech : null });
}

/** Nobody has said anything for as long as the session wants to wait: the model speaks first. */
export function waitedLongEnough(step: Step): void {
  const { config, response, gate, sound } = step.state;
  const turns = turnSettings(config);
  if (turns === null || turns.idleMs === null || response !== null || gate.speaking) return;
  const item = heardItem(spokenItem(step.newId('item')), '');
  const audio_end_ms = Math.round(endMs(sound));
  const audio_start_ms = Math.round(sound.startMs);
  step.send('input_audio_buffer.timeout_triggered', { audio_start_ms, audio_end_ms, item_id: item.id });
  forget(step, endMs(sound));
  const previous_item_id = step.state.items.at(-1)?.id ?? null;
  step.send('input_audio_buffer.committed', { item_id: item.id, previous_item_id });
  joinItem(step, item, null);
  itemDone(step, item);
  speakFirst(step);
}
