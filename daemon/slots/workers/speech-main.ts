import { type LoadService, runWorker } from './lifecycle.ts';
import { readSpeechCommand, type SpeechConfig } from './speech-config.ts';

/** The loader of each worker kind. */
const SERVICES: Readonly<Record<SpeechConfig['kind'], LoadService<SpeechConfig>>> = {
  speech: async (config) => {
    const { loadVoice } = await import('./speech/voice-model.ts');
    const { speechService } = await import('./speech/routes.ts');
    return speechService(await loadVoice(config), config);
  },
  espeak: async (config) => {
    const { openEspeak } = await import('./speech/espeak.ts');
    const { speechService } = await import('./speech/routes.ts');
    return speechService(await openEspeak(config), config);
  },
  transcription: async (config) => {
    const { loadRecogniser } = await import('./transcription/recognizer.ts');
    const { transcriptionService } = await import('./transcription/routes.ts');
    return transcriptionService(await loadRecogniser(config), config);
  },
};

/** Entry point of the speech worker. The native library is imported only after the port is open. */
runWorker({ read: readSpeechCommand, load: (config, watch) => SERVICES[config.kind](config, watch) });
