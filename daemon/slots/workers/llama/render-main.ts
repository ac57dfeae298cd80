import { parentPort, workerData } from 'node:worker_threads';
import { asRefusal } from '../refusal.ts';
import { type Conversation, chatTemplates, type TemplateFiles } from './chat-template.ts';

/** The input of the thread. */
export interface RenderInput {
  readonly files: TemplateFiles;
  readonly conversation: Conversation;
}

/** The result of the thread: the prompt, or why the template refuses the conversation. */
export type RenderOutput =
  | { readonly prompt: string }
  | { readonly prompt?: undefined; readonly code: string; readonly message: string };

function output({ files, conversation }: RenderInput): RenderOutput {
  try {
    return { prompt: chatTemplates(files).render(conversation) };
  } catch (error) {
    const { code, message } = asRefusal(error);
    return { code, message };
  }
}

parentPort?.postMessage(output(workerData as RenderInput));
