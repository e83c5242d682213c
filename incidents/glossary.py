"""What the words on the pages mean, told where they are used and on a page of their own."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word and its meaning in a few sentences."""

    name: str
    meaning: str


TERMS: Mapping[str, Term] = {
    "job": Term("Job", "One training job, over all its restarts."),
    "attempt": Term(
        "Attempt", "One launch of a job. A restart starts the next attempt of the same job."
    ),
    "rank": Term("Rank", "One process of an attempt, placed on a host and there on one GPU."),
    "placement": Term(
        "Placement",
        "Which rank ran on which host and GPU. With it, what is found about a rank leads to the "
        "machine; without it Aegis can only name ranks.",
    ),
    "communicator": Term(
        "Communicator",
        "A fixed, ordered group of ranks that call collective operations together (NCCL's word; "
        "PyTorch says process group). Each one numbers its operations by itself. A rank is in "
        "several: one for tensor parallelism, one for data parallelism, and so on.",
    ),
    "collective": Term(
        "Collective",
        "An operation such as all-reduce that every rank of a communicator has to call. Whoever "
        "arrives waits for those who have not, so one stuck rank stops all of them.",
    ),
    "flight-recorder": Term(
        "Flight Recorder dump",
        "What PyTorch writes when a collective times out: the last operations of each rank and how "
        "far they came. Switch it on with TORCH_NCCL_TRACE_BUFFER_SIZE and "
        "TORCH_NCCL_DUMP_ON_TIMEOUT.",
    ),
    "suspect": Term(
        "Suspect",
        "A part, host, rank or piece of software that may be the cause, with the probability that "
        "it is. Culprit: it is to blame. Possible: it may be. Victim: it reports errors because "
        "something else broke, so isolating it does not help.",
    ),
    "finding": Term(
        "Finding",
        "One statement taken from evidence, with the way back to the line, entry or samples that "
        "it comes from. It speaks for a suspect (+) or against it (−).",
    ),
    "evidence": Term(
        "Evidence",
        "A file that tells what happened: a log, a Flight Recorder dump, a kernel log, counters, a "
        "ping matrix. Files are kept as they came and recognised by their content.",
    ),
    "confidence": Term(
        "Confidence",
        "The probability that the answer's sentence is true, judged from the evidence that was "
        "there. More evidence can change it.",
    ),
    "trace": Term(
        "Reasoning",
        "Each step that the diagnosis took or passed over, in order, so that you can check it.",
    ),
    "isolate": Term(
        "Isolate",
        "Take a host out of scheduling (drain in Slurm, cordon in Kubernetes) until it is repaired "
        "and checked. Aegis gives the command; someone runs it, or has it run.",
    ),
    "fault-type": Term(
        "Fault",
        "A kind of fault in Aegis's taxonomy, by its code, for instance "
        "xid-79-gpu-fallen-off-bus. Each has an explanation, a class and an action.",
    ),
    "precision": Term(
        "Right of decided",
        "A rule counts in each incident in which it spoke for a suspect that someone decided on. "
        "It was right where the recommendation was accepted, unless the job did not recover or "
        "repair found the part good; what repair finds has the last word. "
        "“At least” is the lower end of the 95 % interval (Wilson), for few decisions lower.",
    ),
    "lost": Term(
        "Lost to diagnosis",
        "From the stop of the job or the onset of the hang until someone decided what to do: the "
        "first decision, mitigation or resolution. An open incident still counts.",
    ),
    "located": Term(
        "Localised at run time",
        "The share of incidents whose cause an answer named from the evidence of the run itself, "
        "without taking hosts out for tests.",
    ),
    "top": Term(
        "First suspect right",
        "In how many of the decided incidents the cause was the first of the suspects; top 3: one "
        "of the first three.",
    ),
    "restarts": Term("Restarts", "Attempts that began after the first one of their job."),
    "degradation": Term(
        "Accumulated degradation",
        "With T the times of a job's iterations and the limit at 1.2 times their mean: the sum of "
        "what slow iterations took beyond the limit, divided by the sum of all. Known for jobs "
        "that are watched.",
    ),
    "held": Term(
        "Held before delivery",
        "Hosts that a delivery check found wanting before a job ran on them.",
    ),
    "gpu-hours": Term(
        "GPU-hours lost",
        "The GPUs of the attempt times the hours that they stood idle for an incident, until it "
        "was mitigated, resolved, or the GPUs got other work. Of a slow job only the share of the "
        "work that is lost, as whole GPUs; nothing where no answer tells that share.",
    ),
    "tor": Term(
        "ToR group", "The hosts that share a top-of-rack switch, and break together when it does."
    ),
    "pod": Term("Pod", "The ToR groups that share a layer of switches above them."),
}
