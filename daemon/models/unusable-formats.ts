import type { SlotTypeName } from '../contract/slots.ts';
import { loadObjection } from './llama-architectures.ts';

/** Why a file or folder cannot be used, and what to do instead. */
export interface Unusable {
  readonly reason: string;
  readonly advice: string;
}

interface Format extends Unusable {
  readonly id: string;
  /** A name that this format has. */
  readonly mark: RegExp;
  /** The folder also has a name like this. */
  readonly with?: RegExp;
  /** The folder has no name like this. */
  readonly without?: RegExp;
}

const GET_GGUF = 'Download a GGUF of this model from the catalogue or the hub.';
const GET_SPEECH =
  'Download the model as sherpa-onnx publishes it, or a voice of Piper (NAME.onnx with NAME.onnx.json).';
const VLLM = 'Serve it with engine = "vllm" in a slot file, or download a GGUF of this model.';
const RUNS_CODE = 'Such files can run any program when they are read, so no engine here loads them.';
/** Any file of weights. */
const WEIGHTS =
  /\.(safetensors|gguf|bin|onnx|npz|pth|pt|ckpt|h5|msgpack|model)$|^(onnx|openvino|coreml|mlx)$/i;

/** Formats of a whole folder. The first match counts. */
const FOLDERS = [
  {
    id: 'ctranslate2',
    mark: /^model\.bin$/,
    with: /^((shared|source|target)_)?vocabulary\.(txt|json)$/,
    reason: 'a model in CTranslate2 format (faster-whisper), which no engine here reads',
    advice: GET_SPEECH,
  },
  {
    id: 'mlx',
    mark: /^weights(\.\d+)?\.npz$/,
    reason: 'a model in MLX format, which only Apple processors run',
    advice: GET_GGUF,
  },
  {
    id: 'openvino',
    mark: /^openvino_.*\.xml$/,
    reason: 'a model in OpenVINO format, which no engine here reads',
    advice: GET_GGUF,
  },
  {
    id: 'core-ml',
    mark: /\.(mlpackage|mlmodelc|mlmodel)$/i,
    reason: 'a model in Core ML format, which only Apple systems run',
    advice: GET_GGUF,
  },
  {
    id: 'pytorch-folder',
    mark: /^(pytorch_model.*\.bin|consolidated.*\.pth)$/,
    without: /\.(safetensors|gguf)$/i,
    reason: 'weights in PyTorch pickle format',
    advice: `${RUNS_CODE} ${GET_GGUF}`,
  },
  {
    id: 'onnx-of-transformers',
    mark: /^onnx$/,
    with: /^config\.json$/,
    without: /\.(safetensors|gguf)$/i,
    reason: 'a model in the ONNX form of transformers, which no engine here reads',
    advice: GET_GGUF,
  },
  {
    id: 'tokenizer-only',
    mark: /^(tokenizer\.json|tokenizer_config\.json)$/,
    with: /^(config|tokenizer_config)\.json$/,
    without: WEIGHTS,
    reason: 'a tokenizer without weights',
    advice: 'Download the weights of the model into this folder, or remove it.',
  },
] as const satisfies readonly Format[];

/** Formats of one file. The first match counts. */
const FILES = [
  {
    id: 'unfinished-download',
    mark: /\.(gguf|safetensors|onnx|bin|pth|pt|ckpt|zip|tar|bz2|gz)\.(part|partial|download|incomplete|aria2|filepart|tmp|crdownload)$|\.crdownload$|\.incomplete$/i,
    reason: 'an unfinished download',
    advice: 'Finish the download, or delete the file and download it again.',
  },
  {
    id: 'archive',
    mark: /(gguf|onnx|vits|kokoro|piper|whisper|moonshine|sherpa|zipformer).*\.(zip|tar|tgz|gz|bz2|xz|7z|rar)$/i,
    reason: 'a packed archive',
    advice: 'Unpack it into the model folder.',
  },
  {
    id: 'whisper-cpp',
    mark: /^ggml-.*\.bin$/i,
    reason: 'a model of whisper.cpp, which no automatic slot serves',
    advice: 'Serve it with engine = "whisper-server" in a slot file, or use a model of sherpa-onnx.',
  },
  {
    id: 'pickle',
    mark: /\.(pt|pth|ckpt|pkl|pickle|joblib|nemo)$/i,
    reason: 'a PyTorch or pickle file',
    advice: `${RUNS_CODE} Use a safetensors or GGUF version.`,
  },
  {
    id: 'llamafile',
    mark: /\.llamafile$/i,
    reason: 'a llamafile, which contains a program',
    advice: GET_GGUF,
  },
  {
    id: 'other-runtime',
    mark: /\.(tflite|task|litertlm|engine|mlmodel|h5|msgpack|keras)$/i,
    reason: 'a model in a format that no engine here reads',
    advice: GET_GGUF,
  },
  {
    id: 'voice-activity',
    mark: /(^|[-_.])vad[-_.].*onnx$/i,
    reason: 'a voice activity detector, which the gateway has built in',
    advice: 'Nothing is needed; the file can be removed.',
  },
  {
    id: 'piper-without-settings',
    mark: /^[a-z]{2,3}_[A-Z]{2}-.+-(x_low|low|medium|high)\.onnx$/,
    reason: 'a voice of Piper without its settings',
    advice: 'Put the file of the same name with .json at the end (NAME.onnx.json) next to it.',
  },
  {
    id: 'unknown-onnx',
    mark: /\.(onnx|ort)$/i,
    reason: 'an ONNX model of an unknown kind',
    advice: GET_SPEECH,
  },
  {
    id: 'loose-safetensors',
    mark: /\.safetensors$/i,
    without: /^(config|model_index)\.json$/,
    reason: 'weights without a config.json: an image checkpoint, a LoRA, or a part of a model',
    advice:
      'Put checkpoints for images into the models folder of ComfyUI. For vLLM, download the whole repository.',
  },
  {
    id: 'exllama-file',
    mark: /\.exl[23]$/i,
    reason: 'a model in ExLlama format, which no engine here reads',
    advice: GET_GGUF,
  },
] as const satisfies readonly Format[];

/** Reasons that are found by reading a file, each with what to do. The first match counts. */
const CONTENTS = [
  {
    id: 'git-lfs-pointer',
    reason: /Git LFS/,
    advice: 'Run git lfs pull in its repository, or download the file from the hub.',
  },
  {
    id: 'web-page',
    reason: /web page|error message of a server/,
    advice: 'Delete it and download the model again; the server sent a login or error page.',
  },
  {
    id: 'packed-content',
    reason: /archive: unpack it/,
    advice: 'Unpack it into the model folder.',
  },
  {
    id: 'old-format',
    reason: /old GGML format|GGUF version/,
    advice: GET_GGUF,
  },
  {
    id: 'no-permission',
    reason: /\(E(ACCES|PERM)\)/,
    advice: 'Give the user of the gateway permission to read it.',
  },
  {
    id: 'espeak-data-missing',
    reason: /^espeak-ng-data is (missing|not complete)/,
    advice:
      'Install the package espeak-ng-data, or put the whole folder next to the voice or into the model folder.',
  },
  {
    id: 'split-part-missing',
    reason: /^part \d+ of (\d+: the file does not exist|a split model)/,
    advice: 'Download the missing parts into the same folder.',
  },
  {
    id: 'part-missing',
    reason: /(is|are) missing|lack weights/,
    advice: 'Add what is missing, or download the model again.',
  },
  {
    id: 'lora-adapter',
    reason: /LoRA adapter/,
    advice:
      'Serve its base model with engine = "llama-server" and extra_args = ["--lora", "FILE"] in a slot file.',
  },
  {
    id: 'not-a-language-model',
    reason: /not a language model/,
    advice: 'Serve a model for images with engine = "sd-server" in a slot file.',
  },
  {
    id: 'damaged',
    reason:
      /incomplete|cut off|damaged|not a GGUF|is empty|is not a whole|not valid JSON|names no architecture|its configuration/,
    advice: 'Delete it and download the model again.',
  },
  {
    id: 'foreign-safetensors',
    reason: /MLX|ExLlama/,
    advice: GET_GGUF,
  },
  {
    id: 'foreign-voice',
    reason: /\.onnx\.json: /,
    advice: GET_SPEECH,
  },
  {
    id: 'unknown-speech-kind',
    reason: /speech models of the kind|kind of speech model/,
    advice: GET_SPEECH,
  },
  {
    id: 'unknown-config',
    reason: /names no known architecture/,
    advice: VLLM,
  },
] as const satisfies readonly { readonly id: string; readonly reason: RegExp; readonly advice: string }[];

/** The facts of a registered model that decide whether an engine here can load it. */
interface ServedFacts {
  readonly format: string;
  readonly type: SlotTypeName;
  readonly architecture?: string | null;
  readonly unknownTypes?: readonly number[];
}

interface UnservedFormat {
  readonly id: string;
  /** Returns why no engine of the gateway serves the model by itself. Null when one does. */
  readonly reason: (model: ServedFacts) => string | null;
  readonly advice: string;
}

/** Models in good order that only an engine of a slot file can serve. The first match counts. */
const MODELS = [
  {
    id: 'diffusers',
    reason: ({ format, type }) =>
      format === 'safetensors' && type === 'image'
        ? 'an image pipeline in diffusers format, which no engine here loads by itself'
        : null,
    advice: 'Use the checkpoint in ComfyUI and add a slot of type image.',
  },
  {
    id: 'safetensors',
    reason: ({ format }) =>
      format === 'safetensors' ? 'weights in safetensors format, which only vLLM serves here' : null,
    advice: VLLM,
  },
  {
    id: 'unknown-gguf',
    reason: ({ format, architecture = null, unknownTypes = [] }) =>
      format === 'gguf' && architecture !== null
        ? (loadObjection({ architecture, unknownTypes })?.replace(/\.$/, '') ?? null)
        : null,
    advice:
      'Update the gateway, or serve it with engine = "llama-server" of a newer llama.cpp in a slot file.',
  },
] as const satisfies readonly UnservedFormat[];

/** Names of all formats that are recognised and cannot be used. */
export type FormatId = (
  | (typeof FOLDERS)[number]
  | (typeof FILES)[number]
  | (typeof CONTENTS)[number]
  | (typeof MODELS)[number]
)['id'];

/** Returns whether the embedded engine can serve a model as a chat model, by its header. Pure. */
export const isEmbeddedChat = (model: ServedFacts): boolean =>
  model.type === 'llm' && model.format === 'gguf' && unservedFormat(model) === null;

/** Returns what to do about a file that cannot be used for this reason. Null when nothing is known. Pure. */
export const adviceFor = (reason: string): string | null =>
  CONTENTS.find((content) => content.reason.test(reason))?.advice ?? null;

const fits = (format: Format, names: readonly string[]): boolean =>
  (format.with === undefined || names.some((name) => format.with?.test(name))) &&
  !names.some((name) => format.without?.test(name));

const plain = ({ reason, advice }: Format): Unusable => ({ reason, advice });

/** Returns why the folder with these names is no model. Null when its format is not a known one. Pure. */
export function unusableFolder(names: readonly string[]): Unusable | null {
  const formats: readonly Format[] = FOLDERS;
  const found = formats.find((format) => names.some((name) => format.mark.test(name)) && fits(format, names));
  return found === undefined ? null : plain(found);
}

/** Returns why a file in a folder with these names is no model. Null when its format is not a known one. Pure. */
export function unusableFile(name: string, names: readonly string[]): Unusable | null {
  const formats: readonly Format[] = FILES;
  const found = formats.find((format) => format.mark.test(name) && fits(format, names));
  return found === undefined ? null : plain(found);
}

/** Returns whether a file is an unfinished download, which may be in the folder of a model. Pure. */
export const isUnfinished = (name: string): boolean => FILES[0].mark.test(name);

/** Returns why no engine of the gateway serves a registered model by itself. Null when one does. Pure. */
export function unservedFormat(model: ServedFacts): Unusable | null {
  for (const { reason, advice } of MODELS as readonly UnservedFormat[]) {
    const why = reason(model);
    if (why !== null) return { reason: why, advice };
  }
  return null;
}
