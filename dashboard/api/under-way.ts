let running = 0;

/** Notes that something is under way which a reload of the page would end. Call the answer once it has ended. */
export function beginWork(): () => void {
  let ended = false;
  running += 1;
  return () => {
    if (!ended) running -= 1;
    ended = true;
  };
}

/** Whether a reload would end something: an answer that comes in, a drawing, a conversation. */
export const isWorking = (): boolean => running > 0;
