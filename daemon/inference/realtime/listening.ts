import type { ClientEvent } from '../../contract/realtime.ts';
import { clientError } from './client-event.ts';
import { addItem, completeItem, transcribeItem } from './item-list.ts';
import { spokenItem, transcribedItem } from './items.ts';
import { answerTurn, interruptResponse, isStageMissing, speakFirst } from './response.ts';
import { DEFAULT_MODELS, type TurnSettings, turnSettings } from './session-config.ts';
import { addSound, bytesOf, dropSound, emptySound, endMs, keepLast, soundMs } from './sound-buffer.ts';
import { bytesIn, formatRow, msOf } from './sound-format.ts';
import type { Step } from './step.ts';
import { FRAME_MS, loudness, nextFrame, SILENT, STARTED_BEFORE_MS } from './vad.ts';

/** Maximum bytes of uncommitted audio: almost six minutes of PCM16. */
export const MAX_SOUND_BYTES = 16 * 1024 * 1024;
/** Minimum duration of a recording. */
const MIN_COMMIT_MS = 100;

export function append(step: Step, { audio, event_id }: ClientEvent<'input_audio_buffer.append'>) {
  const { config, sound } = step.state;
  const bytes = Buffer.from(audio, 'base64');
  const refuse = (code: string, message: string) =>
    step.error(clientError(code, message, { param: 'audio', event_id: event_id ?? null }));
  if (bytes.length % formatRow(config.input.format).bytesPerSample !== 0)
    return refuse('invalid_value', 'The audio ends within a sample.');
  const turns = turnSettings(config);
  if (turns === null && sound.bytes + bytes.length > MAX_SOUND_BYTES)
    return refuse('input_audio_buffer_full', 'The buffer is full; commit or clear it.');
  step.set({ sound: addSound(sound, bytes) });
  if (turns !== null) processSound(step, turns);
}

/** Processes the complete frames and keeps only the audio that a turn may still need. */
function processSound(step: Step, turns: TurnSettings): void {
  const frame = bytesIn(step.state.config.input.format, FRAME_MS);
  // Copied once: slicing each frame from all blocks costs more than processing it.
  const fresh = bytesOf(step.state.sound, step.state.processedBytes);
  for (let at = 0; at + frame <= fresh.length; at += frame)
    processFrame(step, turns, fresh.subarray(at, at + frame));
  const { sound, vad, processedBytes } = step.state;
  if (vad.speaking) {
    if (sound.bytes > MAX_SOUND_BYTES) stopSpeech(step, turns);
    return;
  }
  const retained = keepLast(sound, turns.prefixMs + STARTED_BEFORE_MS + FRAME_MS);
  step.set({ sound: retained, processedBytes: Math.max(0, processedBytes - (sound.bytes - retained.bytes)) });
}

function processFrame(step: Step, turns: TurnSettings, frame: Buffer): void {
  const { sound, processedBytes, vad } = step.state;
  const level = loudness(formatRow(sound.format).decode(frame));
  const [next, sign] = nextFrame(vad, level, turns);
  step.set({ vad: next, processedBytes: processedBytes + frame.length });
  if (sign === 'started') startSpeech(step, turns);
  if (sign === 'stopped') stopSpeech(step, turns);
}

function startSpeech(step: Step, turns: TurnSettings): void {
  const { sound, processedBytes } = step.state;
  const from = Math.max(0, processedBytes - bytesIn(sound.format, STARTED_BEFORE_MS + turns.prefixMs));
  const speech = step.newId('item');
  step.set({ sound: dropSound(sound, from), processedBytes: processedBytes - from, speechItemId: speech });
  step.addEffect({ kind: 'idle', ms: null });
  const audio_start_ms = Math.round(step.state.sound.startMs);
  step.send('input_audio_buffer.speech_started', { audio_start_ms, item_id: speech });
  if (turns.interruptResponse) interruptResponse(step);
}

function stopSpeech(step: Step, turns: TurnSettings): void {
  sendSpeechStopped(step);
  const item = commitSound(step, step.state.processedBytes);
  if (item !== null && turns.createResponse) answerTurn(step, item);
}

function sendSpeechStopped(step: Step): void {
  const { sound, processedBytes, speechItemId } = step.state;
  const audio_end_ms = Math.round(sound.startMs + msOf(sound.format, processedBytes));
  step.send('input_audio_buffer.speech_stopped', { audio_end_ms, item_id: speechItemId });
}

/**
 * Turns the first `count` bytes into an item of the conversation. Returns its id; null when nothing can
 * transcribe it.
 */
function commitSound(step: Step, count: number): string | null {
  const { sound, speechItemId, items, config } = step.state;
  const item = spokenItem(speechItemId ?? step.newId('item'));
  const bytes = bytesOf(sound, 0, count);
  const { vad } = step.state;
  step.set({
    sound: dropSound(sound, count),
    processedBytes: 0,
    speechItemId: null,
    vad: { ...SILENT, noise: vad.noise },
  });
  step.send('input_audio_buffer.committed', { item_id: item.id, previous_item_id: items.at(-1)?.id ?? null });
  addItem(step, item, null);
  completeItem(step, item);
  if (isStageMissing(step, 'stt', config.input.transcription?.model ?? DEFAULT_MODELS.stt, null)) return null;
  transcribeItem(step, item.id, bytes);
  return item.id;
}

export function commit(step: Step, { event_id }: ClientEvent<'input_audio_buffer.commit'>): void {
  const { sound } = step.state;
  if (soundMs(sound) >= MIN_COMMIT_MS) return void commitSound(step, sound.bytes);
  const message = `Error committing input audio buffer: buffer too small. Expected at least ${MIN_COMMIT_MS}ms of audio, but buffer only has ${soundMs(sound).toFixed(2)}ms of audio.`;
  step.error(clientError('input_audio_buffer_commit_empty', message, { event_id: event_id ?? null }));
}

export function clear(step: Step): void {
  resetSound(step, endMs(step.state.sound));
  step.send('input_audio_buffer.cleared');
}

/** Drops the buffered audio and resets the VAD. */
export function resetSound(step: Step, startMs: number): void {
  const { config, vad } = step.state;
  step.set({
    sound: emptySound(config.input.format, startMs),
    processedBytes: 0,
    speechItemId: null,
    vad: { ...SILENT, noise: vad.noise },
  });
}

/**
 * Applies changed turn detection. Speech in progress keeps its announced item: the new settings find its end,
 * or it ends now and the caller commits it. A VAD that is switched on starts from silence.
 */
export function updateTurnDetection(step: Step, before: TurnSettings | null): void {
  const { config, vad, speechItemId } = step.state;
  const now = turnSettings(config);
  if ((now === null) === (before === null)) return;
  if (vad.speaking) sendSpeechStopped(step);
  step.set({
    vad: { ...SILENT, noise: vad.noise },
    processedBytes: 0,
    speechItemId: now === null ? speechItemId : null,
  });
}

/** Handles the idle timeout: the model speaks first. */
export function onIdle(step: Step): void {
  const { config, response, vad, sound } = step.state;
  const turns = turnSettings(config);
  if (turns === null || turns.idleMs === null || response !== null || vad.speaking) return;
  const item = transcribedItem(spokenItem(step.newId('item')), '');
  const audio_end_ms = Math.round(endMs(sound));
  const audio_start_ms = Math.round(sound.startMs);
  step.send('input_audio_buffer.timeout_triggered', { audio_start_ms, audio_end_ms, item_id: item.id });
  resetSound(step, endMs(sound));
  const previous_item_id = step.state.items.at(-1)?.id ?? null;
  step.send('input_audio_buffer.committed', { item_id: item.id, previous_item_id });
  addItem(step, item, null);
  completeItem(step, item);
  speakFirst(step);
}
