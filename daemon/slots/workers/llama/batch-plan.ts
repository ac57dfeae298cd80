import type { BatchItem, EvaluationPriority, PrioritizedBatchItem } from 'node-llama-cpp';

/** Divides each batch of one context among the waiting sequences and counts the batches. */
export class BatchPlan {
  #batches = 0;

  /** Batches decoded so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Callback of the library, called once before each batch is decoded. */
  readonly divide = ({ items, size }: Waiting): PrioritizedBatchItem[] => {
    this.#batches++;
    return sortedByPriority(shares(items, size));
  };
}

interface Waiting {
  items: readonly BatchItem[];
  /** Number of tokens that fit. */
  size: number;
}

/**
 * Returns the priority that identifies the items of a sequence in a batch. The library passes it through and
 * ignores it when a custom plan divides the batches.
 */
export const sequencePriority = (sequence: number): EvaluationPriority => sequence as EvaluationPriority;

/**
 * Sorts by sequence number. llama.cpp evaluates adjacent sequences in ascending order in one pass; any other
 * order splits the batch into parts that each cost as much as the whole.
 */
function sortedByPriority(plan: PrioritizedBatchItem[]): PrioritizedBatchItem[] {
  return plan.sort((a, b) => a.item.evaluationPriority - b.item.evaluationPriority);
}

/**
 * Splits `size` tokens into equal shares and gives the unused part of a share to longer items. A sequence
 * that waits for one token always gets it; prompts share the rest.
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
