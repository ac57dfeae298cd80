/** The root of the checkout. */
export const root: string;
/** Whether `dist/daemon` is built from the sources as they are now. */
export function daemonIsBuilt(): boolean;
