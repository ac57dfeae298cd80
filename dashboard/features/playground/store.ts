import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { toFailureInfo } from '../../api/api-error.ts';
import { beginWork } from '../../api/busy.ts';
import {
  atRest,
  beforeLastAnswer,
  bodyOf,
  type Conversation,
  nextId,
  type Parameters,
  type Turn,
  turn,
  withChange,
  withTurns,
} from './conversation.ts';
import { runChat } from './run-chat.ts';
import { load, store } from './stored-conversation.ts';
import { isOpen, type ToolCall, withPiece, withResult } from './tool-calls.ts';

/** Throttles screen updates of a stream. */
const FLUSH_MS = 40;
const STORE_MS = 500;

/**
 * The conversation of this tab. Lives outside the view, so that an answer continues while another view is open.
 */
class ConversationStore {
  readonly state = createStore<Conversation>(load);
  #before: Conversation | null = null;
  #abort: AbortController | null = null;
  #storeTimer: ReturnType<typeof setTimeout> | undefined;

  readonly get = this.state.getState;

  #set(change: Partial<Conversation>): void {
    this.state.setState(change);
    this.#storeTimer ??= setTimeout(() => this.storeNow(), STORE_MS);
  }

  /** Stores the conversation immediately. */
  readonly storeNow = (): void => {
    clearTimeout(this.#storeTimer);
    this.#storeTimer = undefined;
    store(this.get());
  };

  setDraft(draft: string): void {
    this.#set({ draft });
  }

  addImage(address: string): void {
    this.#set({ images: [...this.get().images, address] });
  }

  /** Removes one image by its index, because images may repeat. */
  removeImage(at: number): void {
    this.#set({ images: this.get().images.filter((_, each) => each !== at) });
  }

  setModel(model: string): void {
    this.#set({ model });
  }

  setParameters(change: Partial<Parameters>): void {
    this.#set({ parameters: { ...this.get().parameters, ...change } });
  }

  /** Clears the turns; `restore` brings them back until the next message. */
  clear(): void {
    this.stop();
    // Mark the running answer as stopped now: its own update no longer finds the turn, so a restored one would stream forever.
    this.#before = { ...this.get(), turns: atRest(this.get().turns) };
    this.#set({ turns: [] });
  }

  restore(): void {
    if (this.#before !== null) this.#set({ turns: this.#before.turns });
    this.#before = null;
  }

  canRestore(): boolean {
    return this.#before !== null && this.#before.turns.length > 0 && this.get().turns.length === 0;
  }

  /** Aborts the running answer; the gateway then stops the engine. */
  stop(): void {
    this.#abort?.abort();
  }

  /** Sends the draft. Does nothing while an answer is running. */
  async send(model: string): Promise<void> {
    const content = this.get().draft.trim();
    const { turns, images } = this.get();
    if ((content === '' && images.length === 0) || this.#abort !== null) return;
    this.#before = null;
    this.#set({ draft: '', images: [] });
    await this.#answer(withTurns(turns, [turn(nextId(turns), 'user', model, content, images)]), model);
  }

  /** Requests the last answer again. */
  async again(model: string): Promise<void> {
    const turns = beforeLastAnswer(this.get().turns);
    if (turns !== null && this.#abort === null) await this.#answer(turns, model);
  }

  /** Sets the result of a tool call of the last answer. When no result is missing any longer, the model continues. */
  async give(key: string, content: string, model: string): Promise<void> {
    const last = this.get().turns.at(-1);
    if (last?.role !== 'assistant' || this.#abort !== null) return;
    const calls = withResult(last.calls, key, content);
    const turns = withChange(this.get().turns, last.id, { calls });
    this.#set({ turns });
    if (!calls.some(isOpen)) await this.#answer(turns, model);
  }

  async #answer(history: readonly Turn[], model: string): Promise<void> {
    const reply = turn(nextId(history), 'assistant', model);
    const abort = new AbortController();
    this.#abort = abort;
    const endWork = beginWork();
    this.#set({ turns: withTurns(history, [reply]) });
    let [content, reasoning] = ['', ''];
    let calls: readonly ToolCall[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (change: Partial<Turn> = {}): void => {
      clearTimeout(timer);
      timer = undefined;
      this.#set({ turns: withChange(this.get().turns, reply.id, { content, reasoning, calls, ...change }) });
    };
    try {
      const body = bodyOf(history, model, this.get().parameters);
      const facts = await runChat(body, abort.signal, (piece) => {
        content += piece.content;
        reasoning += piece.reasoning;
        calls = piece.calls.reduce<readonly ToolCall[]>(withPiece, calls);
        timer ??= setTimeout(flush, FLUSH_MS);
      });
      flush({ state: 'done', facts });
    } catch (error) {
      if (abort.signal.aborted) flush({ state: 'stopped' });
      else flush({ state: 'failed', failure: toFailureInfo(error) });
    } finally {
      endWork();
      this.#abort = null;
      this.storeNow();
    }
  }
}

export const conversation = new ConversationStore();
addEventListener('pagehide', conversation.storeNow);

/** Subscribes to the conversation. */
export function useConversation(): Conversation {
  return useStore(conversation.state);
}
