import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

export interface ActionOptions<In, Out> {
  readonly send: (input: In) => Promise<Out>;
  /** Updates of shared state. Runs also after the component has unmounted. */
  readonly onSuccess?: (answer: Out, input: In) => unknown;
  readonly onError?: (error: Error) => unknown;
  /** Follow-up of the component. Does not run after it has unmounted, so that a late response closes nothing. */
  readonly onDone?: ((answer: Out) => void) | undefined;
}

export type Action<In, Out> = Omit<UseMutationResult<Out, Error, In>, 'mutate' | 'mutateAsync'> & {
  readonly mutate: (input: In) => void;
};

/** Runs one task at a time and drops tasks that start meanwhile. */
export class Exclusive {
  #busy = false;

  get busy(): boolean {
    return this.#busy;
  }

  /** Starts the task unless one is running. */
  begin(work: () => void): void {
    if (this.#busy) return;
    this.#busy = true;
    work();
  }

  /** Waits for the running task; afterwards the next one may start. */
  async until<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      this.#busy = false;
    }
  }
}

/**
 * A mutation that ignores further calls while it is running. Disabling the button is not enough: a double click is faster
 * than the next render.
 */
export function useAction<In = void, Out = unknown>(rules: ActionOptions<In, Out>): Action<In, Out> {
  const exclusive = useRef(new Exclusive()).current;
  const mutation = useMutation<Out, Error, In>({
    mutationFn: (input) => exclusive.until(rules.send(input)),
    onSuccess: (answer, input) => rules.onSuccess?.(answer, input),
    onError: (error) => rules.onError?.(error),
  });
  return {
    ...mutation,
    mutate: (input) =>
      exclusive.begin(() => mutation.mutate(input, { onSuccess: (answer) => rules.onDone?.(answer) })),
    reset: () => {
      if (!exclusive.busy) mutation.reset();
    },
  };
}
