import { ESPEAK_ID } from '../../models/espeak-voices.ts';

/** The first letter of a Kokoro voice is its language (https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md). */
const KOKORO_LANGUAGES: Readonly<Record<string, string>> = {
  a: 'en-US',
  b: 'en-GB',
  e: 'es',
  f: 'fr',
  h: 'hi',
  i: 'it',
  j: 'ja',
  p: 'pt-BR',
  z: 'zh',
};

interface SpeakingModel {
  readonly architecture?: string | null;
  readonly language?: string | null;
}

/** Returns the language of one voice of a model; null when unknown. Pure. */
export function voiceLanguage(
  { architecture, language = null }: SpeakingModel,
  voice: string,
): string | null {
  if (architecture === ESPEAK_ID) return voice;
  const letter = architecture === 'kokoro' ? /^([a-z])[fm]_/.exec(voice)?.[1] : undefined;
  return (letter === undefined ? undefined : KOKORO_LANGUAGES[letter]) ?? language;
}

/** One sentence per language. */
const SAMPLES: Readonly<Record<string, string>> = {
  ar: 'مرحبا، هكذا يبدو صوتي.',
  cs: 'Dobrý den, takto zní můj hlas.',
  da: 'Goddag, sådan lyder min stemme.',
  de: 'Guten Tag, so klingt meine Stimme.',
  el: 'Γεια σας, έτσι ακούγεται η φωνή μου.',
  en: 'Hello, this is what my voice sounds like.',
  es: 'Hola, así suena mi voz.',
  fi: 'Hei, tältä ääneni kuulostaa.',
  fr: 'Bonjour, voici le son de ma voix.',
  hi: 'नमस्ते, मेरी आवाज़ ऐसी है।',
  hu: 'Jó napot, így szól a hangom.',
  it: 'Buongiorno, questa è la mia voce.',
  ja: 'こんにちは、これが私の声です。',
  ko: '안녕하세요, 제 목소리입니다.',
  nl: 'Hallo, zo klinkt mijn stem.',
  no: 'Hei, slik høres stemmen min ut.',
  pl: 'Dzień dobry, tak brzmi mój głos.',
  pt: 'Olá, é assim que soa a minha voz.',
  ro: 'Bună ziua, așa sună vocea mea.',
  ru: 'Здравствуйте, так звучит мой голос.',
  sv: 'Hej, så här låter min röst.',
  tr: 'Merhaba, sesim böyle.',
  uk: 'Добрий день, так звучить мій голос.',
  vi: 'Xin chào, đây là giọng nói của tôi.',
  zh: '你好,这是我的声音。',
};

/** Returns a sentence in a language, in English when there is none. Pure. */
export const sampleFor = (language: string | null): string =>
  SAMPLES[language?.toLowerCase().split(/[-_]/)[0] ?? ''] ?? (SAMPLES.en as string);
