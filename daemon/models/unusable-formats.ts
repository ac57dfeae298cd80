/** Why a file or folder cannot be used, and what to do instead. */
export interface Unusable {
  readonly reason: string;
  readonly advice: string;
}

interface Format extends Unusable {
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
const FOLDERS: readonly Format[] = [
  {
    mark: /^model\.bin$/,
    with: /^((shared|source|target)_)?vocabulary\.(txt|json)$/,
    reason: 'a model in CTranslate2 format (faster-whisper), which no engine here reads',
    advice: GET_SPEECH,
  },
  {
    mark: /^weights(\.\d+)?\.npz$/,
    reason: 'a model in MLX format, which only Apple processors run',
    advice: GET_GGUF,
  },
  {
    mark: /^openvino_.*\.xml$/,
    reason: 'a model in OpenVINO format, which no engine here reads',
    advice: GET_GGUF,
  },
  {
    mark: /\.(mlpackage|mlmodelc|mlmodel)$/i,
    reason: 'a model in Core ML format, which only Apple systems run',
    advice: GET_GGUF,
  },
  {
    mark: /^(pytorch_model.*\.bin|consolidated.*\.pth)$/,
    without: /\.(safetensors|gguf)$/i,
    reason: 'weights in PyTorch pickle format',
    advice: `${RUNS_CODE} ${GET_GGUF}`,
  },
  {
    mark: /^onnx$/,
    with: /^config\.json$/,
    without: /\.(safetensors|gguf)$/i,
    reason: 'a model in the ONNX form of transformers, which no engine here reads',
    advice: GET_GGUF,
  },
  {
    mark: /^(tokenizer\.json|tokenizer_config\.json)$/,
    with: /^(config|tokenizer_config)\.json$/,
    without: WEIGHTS,
    reason: 'a tokenizer without weights',
    advice: 'Download the weights of the model into this folder, or remove it.',
  },
];

/** Formats of one file. The first match counts. */
const FILES: readonly Format[] = [
  {
    mark: /\.(gguf|safetensors|onnx|bin|pth|pt|ckpt|zip|tar|bz2|gz)\.(part|partial|download|incomplete|aria2|filepart|tmp|crdownload)$|\.crdownload$|\.incomplete$/i,
    reason: 'an unfinished download',
    advice: 'Finish the download, or delete the file and download it again.',
  },
  {
    mark: /(gguf|onnx|vits|kokoro|piper|whisper|moonshine|sherpa|zipformer).*\.(zip|tar|tgz|gz|bz2|xz|7z|rar)$/i,
    reason: 'a packed archive',
    advice: 'Unpack it into the model folder.',
  },
  {
    mark: /^ggml-.*\.bin$/i,
    reason: 'a model of whisper.cpp, which no automatic slot serves',
    advice: 'Serve it with engine = "whisper-server" in a slot file, or use a model of sherpa-onnx.',
  },
  {
    mark: /\.(pt|pth|ckpt|pkl|pickle|joblib|nemo)$/i,
    reason: 'a PyTorch or pickle file',
    advice: `${RUNS_CODE} Use a safetensors or GGUF version.`,
  },
  {
    mark: /\.llamafile$/i,
    reason: 'a llamafile, which contains a program',
    advice: GET_GGUF,
  },
  {
    mark: /\.(tflite|task|litertlm|engine|mlmodel|h5|msgpack|keras)$/i,
    reason: 'a model in a format that no engine here reads',
    advice: GET_GGUF,
  },
  {
    mark: /(^|[-_.])vad[-_.].*onnx$/i,
    reason: 'a voice activity detector, which the gateway has built in',
    advice: 'Nothing is needed; the file can be removed.',
  },
  {
    mark: /^[a-z]{2,3}_[A-Z]{2}-.+-(x_low|low|medium|high)\.onnx$/,
    reason: 'a voice of Piper without its settings',
    advice: 'Put the file of the same name with .json at the end (NAME.onnx.json) next to it.',
  },
  {
    mark: /\.(onnx|ort)$/i,
    reason: 'an ONNX model of an unknown kind',
    advice: GET_SPEECH,
  },
  {
    mark: /\.safetensors$/i,
    without: /^(config|model_index)\.json$/,
    reason: 'weights without a config.json: an image checkpoint, a LoRA, or a part of a model',
    advice:
      'Put checkpoints for images into the models folder of ComfyUI. For vLLM, download the whole repository.',
  },
  {
    mark: /\.exl[23]$|(^|[-_.])exl[23]([-_.]|$).*\.safetensors$/i,
    reason: 'a model in ExLlama format, which no engine here reads',
    advice: GET_GGUF,
  },
];

/** Reasons that are found by reading a file, each with what to do. The first match counts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/Git LFS/, 'Run git lfs pull in its repository, or download the file from the hub.'],
  [/web page/, 'Delete it and download the model again; the server sent a login or error page.'],
  [/\(E(ACCES|PERM)\)/, 'Give the user of the gateway permission to read it.'],
  [
    /^espeak-ng-data is (missing|not complete)/,
    'Put the folder next to the voice; it is part of the package of the model.',
  ],
  [/is missing/, 'Add what is missing, or download the model again.'],
  [
    /incomplete|cut off|damaged|not a GGUF|is empty|is not a whole/,
    'Delete it and download the model again.',
  ],
  [/MLX|ExLlama/, GET_GGUF],
  [/speech models of the kind|kind of speech model/, GET_SPEECH],
  [/architecture/, VLLM],
];

/** Returns what to do about a file that cannot be used for this reason. Null when nothing is known. Pure. */
export const adviceFor = (reason: string): string | null =>
  ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? null;

const fits = (format: Format, names: readonly string[]): boolean =>
  (format.with === undefined || names.some((name) => format.with?.test(name))) &&
  !names.some((name) => format.without?.test(name));

const plain = ({ reason, advice }: Format): Unusable => ({ reason, advice });

/** Returns why the folder with these names is no model. Null when its format is not a known one. Pure. */
export function unusableFolder(names: readonly string[]): Unusable | null {
  const found = FOLDERS.find((format) => names.some((name) => format.mark.test(name)) && fits(format, names));
  return found === undefined ? null : plain(found);
}

/** Returns why a file in a folder with these names is no model. Null when its format is not a known one. Pure. */
export function unusableFile(name: string, names: readonly string[]): Unusable | null {
  const found = FILES.find((format) => format.mark.test(name) && fits(format, names));
  return found === undefined ? null : plain(found);
}

/** Returns whether a file is an unfinished download, which may be in the folder of a model. Pure. */
export const isUnfinished = (name: string): boolean => FILES[0]?.mark.test(name) === true;

/** Why a registered model has no slot, although its files are in order. Null when nothing is known. */
export function unservedFormat({ format, type }: { format: string; type: string }): Unusable | null {
  if (format !== 'safetensors') return null;
  if (type === 'image')
    return {
      reason: 'It is an image pipeline in diffusers format, which no engine here loads by itself.',
      advice: 'Use the checkpoint in ComfyUI and add a slot of type image.',
    };
  return { reason: 'It is in safetensors format, which only vLLM serves here.', advice: VLLM };
}
