import { isAbsolute, join } from 'node:path';

/** A folder in which another program stores models. */
export interface KnownFolder {
  readonly tool: string;
  readonly path: string;
  /** The home folder that contains it; null outside of homes. */
  readonly home: string | null;
}

/** Folders below a home folder, by program. */
const BELOW_HOME: readonly (readonly [tool: string, below: string])[] = [
  ['Ollama', '.ollama/models'],
  ['LM Studio', '.lmstudio/models'],
  ['LM Studio', '.cache/lm-studio/models'],
  ['llama.cpp', '.cache/llama.cpp'],
  ['Hugging Face', '.cache/huggingface/hub'],
];
/** Where Ollama keeps them when it runs as a service: the home folders of its user. */
const SYSTEM: readonly (readonly [tool: string, path: string])[] = [
  ['Ollama', '/usr/share/ollama/.ollama/models'],
  ['Ollama', '/var/lib/ollama/.ollama/models'],
  ['Ollama', '/var/lib/ollama/models'],
];
/** Variables that configure another folder for these programs. */
const VARIABLES: readonly (readonly [tool: string, name: string, below: string])[] = [
  ['Ollama', 'OLLAMA_MODELS', ''],
  ['llama.cpp', 'LLAMA_CACHE', ''],
  ['Hugging Face', 'HF_HUB_CACHE', ''],
  ['Hugging Face', 'HF_HOME', 'hub'],
];
/** Maximum number of homes that are read. */
const MAX_HOMES = 16;
/** Lower uids are system users; higher ones are the overflow user and users of containers. */
const PERSON_UIDS = { from: 1000, to: 60_000 };

/** Home folders of the people of a machine, from the text of /etc/passwd. */
export function homesIn(passwd: string): string[] {
  const homes = passwd.split('\n').flatMap((line) => {
    const [, , uid = '', , , home = ''] = line.split(':');
    const number = Number(uid);
    const person = uid !== '' && number >= PERSON_UIDS.from && number < PERSON_UIDS.to;
    return person && isAbsolute(home) && home !== '/' && !/[\0-\x1f\x7f]/.test(home) ? [home] : [];
  });
  return [...new Set(homes)].slice(0, MAX_HOMES);
}

/**
 * Every folder where other programs may store models, each once (docs/spec/contract.md#model-sources). Pure.
 */
export function knownFolders(
  homes: readonly string[],
  variable: (name: string) => string | undefined,
): KnownFolder[] {
  const named = VARIABLES.flatMap(([tool, name, below]) => {
    const value = variable(name);
    return value !== undefined && isAbsolute(value) ? [{ tool, path: join(value, below), home: null }] : [];
  });
  const usual = homes.flatMap((home) =>
    BELOW_HOME.map(([tool, below]) => ({ tool, path: join(home, below), home })),
  );
  const system = SYSTEM.map(([tool, path]) => ({ tool, path, home: null }));
  const all = [...named, ...usual, ...system];
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index);
}
