import type { BatchItem, EvaluationPriority, PrioritizedBatchItem } from 'node-llama-cpp';

/** Divides each batch of one context among the sequences that wait for it, and counts the batches. */
export class BatchPlan {
  #batches = 0;

  /** Batches decoded so far. */
  get batches(): number {
    return this.#batches;
  }

  /** What the library asks before it decodes: once for each batch. */
  readonly divide = ({ items, size }: Waiting): PrioritizedBatchItem[] => {
    this.#batches++;
    return inOrder(shares(items, size));
  };
}

interface Waiting {
  items: readonly BatchItem[];
  /** Tokens that fit. */
  size: number;
}

/**
 * The mark by which a batch knows the items of the sequence with this number. The library hands it on and has no use for it
 * where a plan of one's own divides the batches.
 */
export const sequencePriority = (sequence: number): EvaluationPriority => sequence as EvaluationPriority;

/**
 * By the numbers of their sequences. llama.cpp takes neighbours in rising order through the model at once; in any other
 * order it falls into pieces, each as dear as the whole.
 */
function inOrder(plan: PrioritizedBatchItem[]): PrioritizedBatchItem[] {
  return plan.sort((a, b) => a.item.evaluationPriority - b.item.evaluationPriority);
}

/**
 * Equal shares of `size` tokens; what one does not need goes to those that have more. So who waits for one token always
 * has a place, and prompts share what is left.
 */
function shares(items: readonly BatchItem[], size: number): PrioritizedBatchItem[] {
  let left = size;
  let waiting = items.length;
  return items
    .toSorted((a, b) => a.tokens.length - b.tokens.length)
    .map((item) => {
      const processAmount = Math.min(item.tokens.length, Math.floor(left / waiting--));
      left -= processAmount;
      return { item, processAmount };
    });
}
