import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

export interface ActRules<In, Out> {
  readonly send: (input: In) => Promise<Out>;
  /** What the answer changes for the whole page; it happens whoever still looks. */
  readonly onSuccess?: (answer: Out, input: In) => unknown;
  readonly onError?: (error: Error) => unknown;
  /** What the view does that sent it: nothing once it is gone, or the answer would close what was opened since. */
  readonly onDone?: ((answer: Out) => void) | undefined;
}

export type Act<In, Out> = Omit<UseMutationResult<Out, Error, In>, 'mutate' | 'mutateAsync'> & {
  readonly mutate: (input: In) => void;
};

/** Lets one piece of work through at a time; what comes meanwhile is left out. */
export class Once {
  #busy = false;

  get busy(): boolean {
    return this.#busy;
  }

  /** Begins the work unless some is under way. */
  begin(work: () => void): void {
    if (this.#busy) return;
    this.#busy = true;
    work();
  }

  /** The result of the work that was begun; with it the next may begin. */
  async until<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      this.#busy = false;
    }
  }
}

/**
 * Something that changes the gateway. One that is under way takes no second: a button is busy only once the page was
 * drawn again, and a double click is faster.
 */
export function useAct<In = void, Out = unknown>(rules: ActRules<In, Out>): Act<In, Out> {
  const once = useRef(new Once()).current;
  const mutation = useMutation<Out, Error, In>({
    mutationFn: (input) => once.until(rules.send(input)),
    onSuccess: (answer, input) => rules.onSuccess?.(answer, input),
    onError: (error) => rules.onError?.(error),
  });
  return {
    ...mutation,
    mutate: (input) =>
      once.begin(() => mutation.mutate(input, { onSuccess: (answer) => rules.onDone?.(answer) })),
    reset: () => {
      if (!once.busy) mutation.reset();
    },
  };
}
