"""Genres: messages that are no report of the speaker's life, such as a joke, a story, or orders to a model.

They stand apart because one sign speaks for the whole message: what else it says is meant in that vein.
"""

import re

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|messages|guidelines|context|above)\b"
    r"|\bsystem (?:prompt|message|override)\b|^[ \t]*(?:system|assistant|developer)\s*:|\byou are now\b|\bnew instructions?\b"
    r"|<\/?\s*(?:system|instructions?|memory)\b|\[/?(?:system|inst)\]|\b(?:store|save|write|add|record) (?:this |the following |that )?(?:\w+ )?(?:in|to|into) (?:your |the )?(?:long[- ]term )?memory\b"
    r"|\bjailbreak\b|\bdeveloper mode\b|\bas an ai\b",
    re.IGNORECASE | re.MULTILINE,
)
_JOKE = re.compile(
    r"(?<!not )(?<!no )(?<!aren't )\b(?:kidding|joking|pulling your leg|april fools?|just a joke|as a joke|was a joke|is a joke|for a laugh|sarcasm|sarcastic(?:ally)?|j/k|jk)\b(?! aside| about (?-i:[^.!?\n]{0,30}?[A-Z]))"
    r"|(?:^|\s)/s(?:\s|$)|[😜🤪😝🙃]|\b(?:I|we) (?:lied|made (?:that|it|this) up|am making this up)\b|\bnot really true\b|\bnone of (?:that|this|it) is true\b"
    r"|\bjust what (?:I|we) (?:always )?(?:needed|wanted)\b|\b(?:oh|yay),? (?:great|joy|goody|lucky me)\b|\blucky me\b|\bhow (?:wonderful|lovely|nice) for (?:me|us)\b",
    re.IGNORECASE,
)
_WORK = (
    r"(?:dreams?|novel|story|film|movie|game|book|play|script|song|poem|scenario|example|fan ?fic(?:tion)?|sketch|playthrough|comic|manga|anime|sitcom)"
    r"\b(?! (?:of|club|shop|store|industry|business|fair|festival|night|class|studio|company)\b)"
)
_GAME = r"(?:the sims|sims|minecraft|skyrim|gta|roblox|stardew valley|animal crossing|second life|world of warcraft|wow|fortnite|zelda|cyberpunk|baldur's gate)"
_FICTION = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend(?:ing)?|hypothetical(?:ly)?|role[- ]?play(?:ing)?|let's say|let us say|just say|say for example|"
    rf"in (?:my|a|the|an|this|that|some|another|our) (?:wildest )?(?:\w+ )?{_WORK}|in an? (?:parallel|alternate|perfect|ideal|different|other|better) (?:world|universe|life|timeline|reality)|in another (?:world|universe|timeline|reality)|(?:in|on) {_GAME}\b|d&d|dungeons (?:and|&) dragons|"
    r"picture (?:this|me|us|it)|envision|visuali[sz]e|thought experiment|fantasi[sz]e|(?:ideal|dream|perfect|fantasy) \w+ ?:|"
    r"(?:I|we)(?: was| am|'m)? dream(?:t|ed|ing) (?:I|we|that|about|of)|had (?:an?|the|this|that|such a|another) (?:\w+ ){0,3}(?:dream|nightmare)|in (?:my|a) dream|"
    r"fictional|(?:my|the|a|her|his) (?:main |\w+ |d&d )?(?:character|protagonist|narrator)(?! in me)|spoilers?\b(?! free)|plot twist|chapter (?:one|two|three|\d+)|"
    r"(?:wr(?:ite|iting|ote|itten)) (?:an?|the|this|another|me an?) (?:\w+ ){0,2}(?:story|poem|song|monologue|dialogue|scene|sketch|limerick|haiku|screenplay|bio|profile|cover letter)|"
    r"(?:my|this|the|a) (?:\w+ )?(?:poem|haiku|limerick|lyrics?|song)(?: \w+){0,2} ?:|"
    r"in another life|in a past life|in a former life|once upon a time|act as (?:an?|the|my|if)|play the (?:role|part)|(?:in|out of|break) character|"
    r"lyrics|the song goes|(?:stuck in my head|singing)\b[^.\n]{0,30}(?:\.\.|…|:)|the poem|for example|for instance|such as when|translate|proofread|rewrite|paraphrase|summari[sz]e|draft|"
    r"(?:fix|correct|check) (?:the|my) (?:grammar|spelling|english)|(?:at|hit|reached|I'm|am|im) (?:now )?level \d+|NPCs?|my guild|respawn(?:ed)?|persona for|"
    r"(?:dummy|test|sample|placeholder|fake|example) (?:user|data|text|profile|record|account|sentences?)|lorem ipsum)\b|\be\.g\."
    r"|\b(?<![\w,] )(?:let's |let us )?assum(?:e|ing)\b"
    r"|\*(?!this|is|was|always|yes|does|has)[a-z]+s \w[^*\n]{1,60}\*",  # "*puts on a hat*"
    re.IGNORECASE,
)


# What a helper is asked to do with a text that comes along.
_TASK = re.compile(
    r"\b(?:make|turn|reword|rephrase|improve|polish|shorten|edit|review|correct|fix|check|format|reply to|respond to|answer|grade|explain|analy[sz]e|convert|simplify|"
    r"extract|classify|label|tag|continue|complete|finish|read) (?:me )?(?:this|these|that|the following|my friend's|(?:the|my|a|his|her) (?:attached|following))(?: \w+)? ?"
    r"(?:letter|e-?mail|mail|text|paragraph|essay|message|cv|resume|résumé|bio|post|tweet|sentences?|speech|caption|draft|document|article|note|answer|application|profile|dialogue|conversation|transcript)\b",
    re.IGNORECASE,
)


def is_report(masked: str) -> bool:
    """Whether nothing says that a message is a joke, a story, an order, or a text to work on."""
    return not any(sign.search(masked) for sign in (_INJECTION, _JOKE, _FICTION, _TASK))
