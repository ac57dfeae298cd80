import type { RequestContext, Routes } from '../http-server.ts';
import type { LoadedService } from '../lifecycle.ts';
import { modelList } from '../llama/model-list.ts';
import type { SpeechConfig } from '../speech-config.ts';
import { speechRequest } from './request.ts';
import { SoundWriter } from './sound-writer.ts';
import type { Speaker } from './speaker.ts';

async function speak(speaker: Speaker, exchange: RequestContext): Promise<void> {
  const request = speechRequest(await exchange.body());
  const writer = new SoundWriter(request.format, (type) => exchange.bytes(type));
  try {
    await speaker.speak(request, exchange.signal, (spoken) => writer.write(spoken));
    await writer.end();
  } catch (error) {
    if (!writer.hasStarted) throw error;
    writer.abort();
  }
}

function routes(speaker: Speaker, config: SpeechConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(speaker.info, config, created)),
    'GET /v1/audio/voices': async (exchange) => exchange.json(200, { voices: speaker.voices }),
    'POST /v1/audio/speech': (exchange) => speak(speaker, exchange),
  };
}

/** Routes of a speech worker. */
export const speechService = (speaker: Speaker, config: SpeechConfig): LoadedService => ({
  info: speaker.info,
  routes: routes(speaker, config),
  stats: () => speaker.stats(),
  dispose: () => speaker.dispose(),
});
