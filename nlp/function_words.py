"""The commonest words of languages that share the Latin alphabet: what decides a text too short for the model."""

from __future__ import annotations

_LISTS = {
    "en": """the a an and or but not no of to in on at for with from by before after about without only never
        always every each than then when where which what who how why is are was were be been has have had
        do does did don't doesn't can can't could should shouldn't must may will won't would i i'm i've my
        me we our you your he she his her it its it's they their them this that these those there here
        please thanks thank use uses using keep call called likes like prefer prefers wants want needs need
        works work lives live reply write send make give show user's spaces mode dark light yes hello""",
    "de": """der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen nur immer
        nie mit ohne von vom zu zum zur für bei beim auf aus nach vor über unter im am ich mich mir mein
        meine wir uns unser du dein sie ihr er es ist sind war bin bist hat habe haben wird werden soll
        sollen muss müssen kann können möchte mag bitte danke ja nein alles klar heißt wohne arbeite nutzer
        benutzer jeden als wie wenn dass auch noch hallo""",
    "fr": """le la les un une des du de et ou mais ne pas plus jamais toujours avec sans pour par dans sur sous
        chez en au aux ce cette ces je j'ai j'aime j'habite j'utilise tu il elle nous vous ils mon ma mes
        notre votre son sa ses est sont suis es ai a ont avons veut veux dois doit peut préfère utilise que
        qui quand comme bonjour merci oui non d'accord s'il c'est n'est l'utilisateur chaque avant après
        très beaucoup""",
    "es": """el la los las un una unos unas y o pero no nunca siempre con sin para por de del en al a se que como
        cuando yo mi mis tu su sus nuestro es son soy eres estoy está están tiene tengo quiero quiere
        prefiero prefiere usa uso vivo trabajo debe puede hola gracias sí entendido muy más antes
        después cada usuario todos me gusta llamo""",
    "it": """il lo la gli le un una e o ma non mai sempre con senza per di del della dei che come quando io mio
        mia sono è ho ha vuole voglio preferisco preferisce uso vivo lavoro grazie ciao sì ogni utente molto
        anche nel nella""",
    "pt": """o a os as um uma e ou mas não nunca sempre com sem para por de do da dos das em no na que como
        quando eu meu minha é são sou tem tenho quero quer prefiro prefere uso moro trabalho obrigado
        obrigada olá sim cada usuário muito também você""",
    "nl": """de het een en of maar niet geen nooit altijd met zonder voor van op in bij naar ik mij mijn wij ons
        je jij hij zij is zijn ben heeft heb wil moet kan graag bedankt hallo ja nee elke gebruiker ook nog
        als dat die""",
}

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
