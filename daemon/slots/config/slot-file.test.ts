import { describe, expect, it } from 'vitest';
import { cpuTimer } from '../../lib/testing/cpu-time.ts';
import { automaticSlot, builtInSlot, readSlotFile } from './slot-file.ts';

describe('readSlotFile', () => {
  it('fills in the default of every key', () => {
    expect(readSlotFile('embed.toml', 'type = "embedding"')).toEqual({
      config: {
        name: 'embed',
        enabled: true,
        auto: false,
        type: 'embedding',
        engine: 'embedded',
        runner: 'worker',
        model: null,
        device: 'auto',
        context: null,
        parallel: 2,
        batch: null,
        cpuMoe: null,
        nCpuMoe: null,
        memoryBytes: null,
        speculation: 'auto',
        draftModel: null,
        draftTokens: null,
        autoload: false,
        pinned: false,
        priority: 0,
        idleUnloadS: 900,
        extraArgs: [],
        env: {},
        voice: null,
        enableThinking: null,
        vision: false,
        dimensions: [],
        command: null,
        health: null,
        image: null,
        pull: 'missing',
        port: null,
        url: null,
        keyEnv: null,
        imageSettings: null,
        fileKeys: ['type'],
      },
      problems: [],
    });
  });

  it('agent is loaded at start and never unloaded when idle', () => {
    expect(builtInSlot('agent')).toMatchObject({
      enabled: true,
      autoload: true,
      idleUnloadS: 0,
      type: 'llm',
    });
    expect(readSlotFile('agent.toml', 'idle_unload = 60').config?.idleUnloadS).toBe(60);
  });

  it.each([
    ['embed', 'embedding'],
    ['rerank', 'rerank'],
    ['writer', 'llm'],
  ])('the type of slot %s is %s unless its file sets another', (name, type) => {
    expect(readSlotFile(`${name}.toml`, 'context = 512').config).toMatchObject({ type, context: 512 });
    expect(readSlotFile(`${name}.toml`, 'type = "llm"').config?.type).toBe('llm');
  });

  it('an automatic slot is loaded on demand only', () => {
    expect(automaticSlot('small', 'llm', 'Small')).toMatchObject({
      name: 'small',
      auto: true,
      enabled: true,
      model: 'Small',
      autoload: false,
      idleUnloadS: 900,
    });
  });

  it('reads the keys of image slots', () => {
    const text =
      'type = "image"\nengine = "comfyui"\nfamily = "flux"\ncheckpoint = "a/b.safetensors"\nvae = "v"\nloras = ["l", { name = "m", strength = 0.5 }]\n[defaults]\nsteps = 8\nclip_skip = 2\n';
    expect(readSlotFile('img.toml', text).config?.imageSettings).toEqual({
      family: 'flux',
      checkpoint: 'a/b.safetensors',
      vae: 'v',
      loras: [
        { name: 'l', strength: 1 },
        { name: 'm', strength: 0.5 },
      ],
      defaults: { steps: 8, clip_skip: 2 },
      workflow: null,
    });
    const table =
      'workflow = { file = "a.json", inputs = { prompt = "6.text", seed = ["3.seed", "12:4.noise_seed"] } }';
    expect(readSlotFile('img.toml', table).config?.imageSettings?.workflow).toEqual({
      file: 'a.json',
      inputs: { prompt: ['6.text'], seed: ['3.seed', '12:4.noise_seed'] },
      workflow: null,
    });
    expect(readSlotFile('img.toml', 'workflow = "../a.json"').config).toBeNull();
    const wrong = readSlotFile('img.toml', 'family = "sd9"\n[defaults]\nstep = 3\n');
    expect(wrong.config).toBeNull();
    expect(wrong.problems.map(({ message }) => message.split(':')[0])).toEqual(['family', 'defaults']);
  });

  it('reads every key', () => {
    const text = `enabled = false
type = "tts"
engine = "kokoro"
runner = "container"
model = "/m/with space;$(x).gguf"
device = "cuda:1"
context = 4096
parallel = 4
batch = 1024
cpu_moe = false
n_cpu_moe = 12
memory = "1.5 GiB"
speculation = "draft"
draft_model = "small"
draft_tokens = 5
autoload = true
pinned = true
priority = -3
idle_unload = "1.5 h"
extra_args = ["--flag", "; rm -rf $(HOME)", "-x"]
enable_thinking = false
dimensions = [256, 64]
command = ["/a b/prog", "{port}"]
health = "/up?x=1"
image = "registry.example:5000/a/b@sha256:00"
pull = "never"
port = 9000
url = "http://127.0.0.1:9000"
key_env = "UPSTREAM_KEY"
[env]
GGML_X = "1"
[voice]
voice = "af"
speed = 1.25
response_format = "wav"
`;
    expect(readSlotFile('my-slot_2.toml', text)).toEqual({
      config: {
        name: 'my-slot_2',
        enabled: false,
        auto: false,
        type: 'tts',
        engine: 'kokoro',
        runner: 'container',
        model: '/m/with space;$(x).gguf',
        device: 'cuda:1',
        context: 4096,
        parallel: 4,
        batch: 1024,
        cpuMoe: false,
        nCpuMoe: 12,
        memoryBytes: 1.5 * 1024 ** 3,
        speculation: 'draft',
        draftModel: 'small',
        draftTokens: 5,
        autoload: true,
        pinned: true,
        priority: -3,
        idleUnloadS: 5400,
        extraArgs: ['--flag', '; rm -rf $(HOME)', '-x'],
        env: { GGML_X: '1' },
        voice: { voice: 'af', speed: 1.25, response_format: 'wav' },
        enableThinking: false,
        vision: false,
        dimensions: [256, 64],
        command: ['/a b/prog', '{port}'],
        health: '/up?x=1',
        image: 'registry.example:5000/a/b@sha256:00',
        pull: 'never',
        port: 9000,
        url: 'http://127.0.0.1:9000',
        keyEnv: 'UPSTREAM_KEY',
        imageSettings: null,
        fileKeys: expect.arrayContaining(['enabled', 'model', 'idle_unload', 'enable_thinking', 'voice']),
      },
      problems: [],
    });
  });

  it.each([
    ['', 'worker'],
    ['engine = "llama-server"', 'process'],
    ['engine = "comfyui"', 'attach'],
    ['engine = "comfyui"\nrunner = "process"', 'process'],
    ['engine = "warp"', 'worker'],
  ])('a file with %j uses the runner %s', (text, runner) => {
    expect(readSlotFile('a.toml', text).config?.runner).toBe(runner);
  });

  it('keeps the slot despite an unknown key, which is reported with its line', () => {
    const read = readSlotFile('a.toml', 'parallel = 1\n\ncolour = "red"\n');
    expect(read.config?.parallel).toBe(1);
    expect(read.problems).toEqual([{ file: 'a.toml', line: 3, message: 'unknown key "colour" is ignored' }]);
  });

  it('thousands of unknown keys are read in one pass and reported up to a limit', () => {
    const text = Array.from({ length: 6_000 }, (_, at) => `k${at}=1`).join('\n');
    const cpuMs = cpuTimer();
    const { problems } = readSlotFile('a.toml', text);
    expect(cpuMs()).toBeLessThan(1_000);
    expect(problems[1]).toEqual({ file: 'a.toml', line: 2, message: 'unknown key "k1" is ignored' });
    expect(problems).toHaveLength(51);
  });

  it('thousands of invalid names in a table are handled likewise', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `${at}=""`).join('\n');
    const cpuMs = cpuTimer();
    const { problems } = readSlotFile('a.toml', `[env]\n${names}`);
    expect(cpuMs()).toBeLessThan(1_000);
    expect(problems).toHaveLength(51);
  });

  it.each([
    ['parallel = 0', 1, /^parallel: /],
    ['command = []', 1, /^command: /],
    ['key_env = "SVC_ADMIN_KEY"', 1, /^key_env: must be a variable name, not SVC_/],
    ['health = "up"', 1, /^health: must be a path/],
    ['image = "two words"', 1, /^image: must be the name of an image/],
    ['enabled = true\ncontext = "big"', 2, /^context: must be a whole number$|^context: must be a number$/],
    ['memory = "much"', 1, /^memory: must be a size such as "8 GB" or "1.5 GiB"$/],
    ['memory = 0', 1, /^memory: must be a size/],
    ['memory = true', 1, /^memory: must be a size/],
    ['memory = "9000 TB"', 1, /^memory: must be a size/],
    ['batch = 8', 1, /^batch: /],
    ['device = "toaster"', 1, /must be auto, cpu/],
    ['idle_unload = "soon"', 1, /^idle_unload: must be seconds or a text like "15 min"$/],
    ['idle_unload = true', 1, /^idle_unload: must be seconds or a text like "15 min"$/],
    ['\n[env]\nSVC_ADMIN_KEY = "x"', 2, /^env\.SVC_ADMIN_KEY: /],
    ['type = "llm"\nmodel = ""', 2, /^model: /],
    ['a = [1 #', 1, /^is not valid TOML: (?!Invalid TOML)/],
  ])('%j is a problem with a line and a reason, and no slot', (text, line, message) => {
    const read = readSlotFile('a.toml', text);
    expect(read.config).toBeNull();
    expect(read.problems[0]).toMatchObject({ file: 'a.toml', line });
    expect(read.problems[0]?.message).toMatch(message);
  });

  it.each(['Big.toml', '-a.toml', 'a b.toml', `${'x'.repeat(33)}.toml`, '.toml'])(
    'refuses the name %s',
    (file) => {
      expect(readSlotFile(file, '').config).toBeNull();
    },
  );

  it('refuses a file that is too large before parsing it', () => {
    expect(readSlotFile('a.toml', `# ${'x'.repeat(70_000)}`).problems[0]?.message).toContain('64 KiB');
  });
});
