import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { model, output, overwrite } from '../options.ts';

const format = (help: string) => new Option('--format <format>', help);

function addSound(program: CliCommand): void {
  program
    .command('speak')
    .argument('[text...]', 'Text to speak; `-` or nothing reads it from standard input')
    .describe(
      'Convert text to speech',
      'Formats are mp3, wav, opus, flac, aac and pcm. Without --format the extension of the file decides, else the slot. Without -o the audio is written to standard output, which must be a pipe.',
    )
    .withOptions(
      output(),
      new Option('--voice <name>', 'Voice, else that of the slot'),
      format('Format of the audio'),
      model('Voice or tts slot, else tts'),
      overwrite(),
    )
    .examples('svcctl speak "Dinner is ready" -o dinner.mp3', 'svcctl speak Hello --format wav | aplay')
    .runs(async () => (await import('../commands/sound.ts')).speak);
  program
    .command('transcribe')
    .argument('<file>', 'Recording')
    .describe(
      'Transcribe a recording',
      'Formats are text, srt, vtt, json and verbose_json; text is the default. The recording is streamed, so it may have any length.',
    )
    .withOptions(
      format('Format of the transcript'),
      new Option('--language <code>', 'Language that is spoken, such as en'),
      model('Speech recogniser or stt slot, else stt'),
      output(),
      overwrite(),
    )
    .examples('svcctl transcribe talk.wav', 'svcctl transcribe talk.mp3 --format srt -o talk.srt')
    .runs(async () => (await import('../commands/sound.ts')).transcribe);
}

/** Adds the commands that send a request to a model. */
export function addInferenceCommands(program: CliCommand): void {
  program
    .command('chat')
    .argument('[text...]', 'Message; without it, piped text or a conversation')
    .describe('Chat with a model')
    .withOptions(model('Name of a slot or id of a model, else agent'))
    .examples('svcctl chat', 'svcctl chat "Name three rivers"', 'svcctl chat --model writer < letter.txt')
    .runs(async () => (await import('../commands/chat.ts')).chat);
  program
    .command('image')
    .argument('[text...]', 'Prompt; without it, piped text')
    .describe('Generate an image file', 'The file is a PNG.')
    .withOptions(
      model('Image model or image slot, else img'),
      output('File to write, else one named after the image'),
      new Option('--size <WxH>', 'Size of the image, else that of the model'),
      overwrite(),
    )
    .examples(
      'svcctl image "a lighthouse at dusk" -o lighthouse.png',
      'svcctl image a red fox --size 512x512',
    )
    .runs(async () => (await import('../commands/image.ts')).image);
  addSound(program);
  program
    .command('embed')
    .argument('[text...]', 'Every argument is one text; `-` or nothing reads one text per line')
    .describe('Create embeddings, one line per text', 'A vector is printed as a JSON array.')
    .withOptions(model('Embedding model or its slot, else embed'))
    .examples('svcctl embed "one text" "another"', 'svcctl embed - < lines.txt')
    .runs(async () => (await import('../commands/embed.ts')).embed);
  program
    .command('explain')
    .argument('[model]', 'Model name of the request')
    .describe(
      'Explain how a request is routed',
      'Shows every dispatch step with its outcome. Nothing is sent or loaded.',
    )
    .withOptions(
      new Option('--path <path>', 'Route of the request, else chat completions'),
      new Option('--allow-fallback', 'As with the header x-svc-allow-fallback: 1'),
    )
    .examples('svcctl explain agent', 'svcctl explain tts --path /v1/audio/speech')
    .runs(async () => (await import('../commands/explain.ts')).explain);
  program
    .command('agents')
    .argument('[client]', 'Coding agent; without it, all that are known')
    .describe(
      'Print the configuration of a coding agent',
      'It has the address of the gateway, the model and the context window that the model has here, because agents assume another one for names that they do not know. The key is read from SVC_CLIENT_KEY.',
    )
    .withOptions(model('Name of a slot or id of a model, else agent'))
    .examples('svcctl agents', 'svcctl agents codex', 'svcctl agents opencode --model writer')
    .runs(async () => (await import('../commands/agents.ts')).agents);
}
