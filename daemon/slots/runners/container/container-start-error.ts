/** A container cannot be started. The message is the reason, in one line. */
export class ContainerStartError extends Error {}
