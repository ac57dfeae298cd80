import { PcmMaker, RATE } from './pcm.ts';

/** Globals of an audio worklet scope. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** Samples per message: 40 ms. */
const PIECE = RATE / 25;

/** Sends microphone audio to the page as 16-bit samples at the rate of live voice. */
class MicTap extends AudioWorkletProcessor {
  readonly #maker = new PcmMaker(sampleRate);
  #piece = new Int16Array(PIECE);
  #filled = 0;

  process(inputs: Float32Array[][]): boolean {
    const channel = inputs[0]?.[0];
    if (channel !== undefined) for (const sample of this.#maker.push(channel)) this.#add(sample);
    return true;
  }

  #add(sample: number): void {
    this.#piece[this.#filled++] = sample;
    if (this.#filled < PIECE) return;
    this.port.postMessage(this.#piece, [this.#piece.buffer]);
    this.#piece = new Int16Array(PIECE);
    this.#filled = 0;
  }
}

registerProcessor('mic-tap', MicTap);
