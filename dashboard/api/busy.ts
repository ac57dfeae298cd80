let running = 0;

/** Marks work that a reload of the page would interrupt. Returns the function that ends the mark. */
export function beginWork(): () => void {
  let ended = false;
  running += 1;
  return () => {
    if (!ended) running -= 1;
    ended = true;
  };
}

/** Whether a reload would interrupt a streaming answer, an image request or a live conversation. */
export const isBusy = (): boolean => running > 0;
